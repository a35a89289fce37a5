// What readers of others make of files of ours: joints of a GLB and a USD file by three.js, and what TinyUSDZ says
// of the latter, against the positions of an NPZ file. Each holds one character.
//   node positions.mjs MODULES NAME      (reads NAME.glb, NAME.usda and NAME.npz)
import fs from 'fs';
import { pathToFileURL } from 'url';

const [modules, name] = process.argv.slice( 2 );
const load = path => import( pathToFileURL( `${modules}/${path}` ) );
const limit = 1e-4; // metres
globalThis.self = globalThis;

// Arrays that are stored, not compressed.
function readNpz( file ) {
    const bytes = fs.readFileSync( file ), arrays = {};
    for ( let at = 0; bytes.readUInt32LE( at ) === 0x04034b50; ) {
        const size = bytes.readUInt32LE( at + 18 ), length = bytes.readUInt16LE( at + 26 );
        const key = bytes.toString( 'utf8', at + 30, at + 30 + length ), begin = at + 30 + length;
        const header = bytes.readUInt16LE( begin + 8 ), text = bytes.toString( 'latin1', begin + 10, begin + 10 + header );
        arrays[key.replace( '.npy', '' )] = {
            type: /'descr': '([^']+)'/.exec( text )[1],
            shape: /\(([^)]*)\)/.exec( text )[1].split( ',' ).map( s => parseInt( s ) ).filter( n => n >= 0 ),
            data: bytes.subarray( begin + 10 + header, begin + size ) };
        at = begin + size;
    }
    return arrays;
}

function texts( array ) {
    const width = parseInt( array.type.slice( 2 ) );
    return Array.from( { length: array.shape[0] }, ( _, i ) => {
        let text = '';
        for ( let k = 0; k < width; ++k ) {
            const code = array.data.readUInt32LE( 4 * ( i * width + k ) );
            text += code > 0 ? String.fromCodePoint( code ) : '';
        }
        return text;
    } );
}

const npz = readNpz( `${name}.npz` ), names = texts( npz.names ), [frames, joints] = npz.positions.shape;
const fps = npz.fps.data.readDoubleLE( 0 );
const THREE = await load( 'three/build/three.module.js' );
const { GLTFLoader } = await load( 'three/examples/jsm/loaders/GLTFLoader.js' );
const { USDLoader } = await load( 'three/examples/jsm/loaders/USDLoader.js' );

function compare( label, root, clip ) {
    const mixer = new THREE.AnimationMixer( root ), place = new THREE.Vector3(), found = new Map();
    root.traverse( node => found.has( node.name ) || found.set( node.name, node ) );
    const action = mixer.clipAction( clip );
    action.setLoop( THREE.LoopOnce );
    action.clampWhenFinished = true;
    action.play();
    let worst = 0, compared = 0;
    for ( let f = 0; f < frames; f += 7 ) {
        mixer.setTime( f / fps );
        root.updateMatrixWorld( true );
        for ( let j = 0; j < joints; ++j ) {
            const node = found.get( names[j] );
            if ( node === undefined )
                continue;
            place.setFromMatrixPosition( node.matrixWorld );
            const at = 24 * ( f * joints + j ), d = npz.positions.data;
            worst = Math.max( worst, Math.hypot( place.x - d.readDoubleLE( at ), place.y - d.readDoubleLE( at + 8 ),
                                                 place.z - d.readDoubleLE( at + 16 ) ) );
            ++compared;
        }
    }
    console.log( `${label}: ${compared} places, farthest off ${worst.toExponential( 1 )} m` );
    return compared > 0 && worst < limit;
}

let ok = true;
const bytes = fs.readFileSync( `${name}.glb` );
const gltf = await new GLTFLoader().parseAsync(
    bytes.buffer.slice( bytes.byteOffset, bytes.byteOffset + bytes.byteLength ), '' );
ok = compare( 'three.js, GLB', gltf.scene, gltf.animations[0] ) && ok;
const text = fs.readFileSync( `${name}.usda`, 'utf8' );
const usd = new USDLoader().parse( text );
ok = compare( 'three.js, USD', usd, usd.animations[0] ) && ok;

// A reader that is strict about the text.
if ( fs.existsSync( `${modules}/tinyusdz/tinyusdz.js` ) ) {
    globalThis.window = globalThis;
    Object.defineProperty( process, 'type', { value: 'renderer' } );
    globalThis.location = { href: 'file:///x' };
    const tiny = await ( await load( 'tinyusdz/tinyusdz.js' ) ).default(
        { wasmBinary: fs.readFileSync( `${modules}/tinyusdz/tinyusdz.wasm` ) } );
    const loader = new tiny.TinyUSDZLoaderNative();
    const read = loader.loadFromBinary( new Uint8Array( fs.readFileSync( `${name}.usda` ) ), `${name}.usda` );
    console.log( `TinyUSDZ: ${read ? 'reads it' : loader.error()}, ${read ? loader.numMeshes() : 0} meshes` );
    ok = read && ok;
}
process.exit( ok ? 0 : 1 );
