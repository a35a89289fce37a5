// What readers of others make of files of ours: joints of a GLB and a USD file by three.js, and what TinyUSDZ says
// of the latter, against the positions of an NPZ file. Each holds one character.
//   node positions.mjs MODULES NAME      (reads NAME.glb, NAME.usda and NAME.npz)
import fs from 'fs';
import { pathToFileURL } from 'url';
import { readNpz, texts } from './npz.mjs';

const [modules, name] = process.argv.slice( 2 );
const load = path => import( pathToFileURL( `${modules}/${path}` ) );
const limit = 1e-4; // metres
globalThis.self = globalThis;

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
    const loader = new tiny.TinyUSDZLoaderNative(), usda = new Uint8Array( fs.readFileSync( `${name}.usda` ) );
    const read = loader.loadFromBinary( usda, `${name}.usda` );
    console.log( `TinyUSDZ: ${read ? 'reads it' : loader.error()}, ${read ? loader.numMeshes() : 0} meshes` );
    ok = read && loader.loadAsLayerFromBinary( usda, `${name}.usda` ) && places( loader.layerToString() ) && ok;
}

// It shows no joints, but prints what it has read: joints follow from translations and rotations (w, x, y, z).
function places( layer ) {
    const text = layer.slice( layer.indexOf( 'def SkelAnimation' ) );
    const paths = [.../joints = \[([^\]]*)\]/.exec( text )[1].matchAll( /"([^"]*)"/g )].map( m => m[1] );
    const parents = paths.map( p => paths.indexOf( p.slice( 0, Math.max( p.lastIndexOf( '/' ), 0 ) ) ) );
    const samples = ( key, width ) => {
        const at = text.indexOf( `${key}.timeSamples` ), lines = text.slice( at, text.indexOf( '}', at ) );
        return new Map( [...lines.matchAll( /(\d+): \[(.*)\]/g )].map( m => {
            const n = m[2].match( /-?[\d.]+(e-?\d+)?/g ).map( Number );
            return [+m[1], Array.from( { length: n.length / width }, ( _, i ) => n.slice( i * width, ( i + 1 ) * width ) )];
        } ) );
    };
    const moves = samples( 'translations', 3 ), turns = samples( 'rotations', 4 );
    const column = paths.map( p => names.indexOf( p.slice( p.lastIndexOf( '/' ) + 1 ) ) );
    let worst = 0, compared = 0;
    for ( const [f, move] of moves ) {
        const world = [];
        for ( let j = 0; j < paths.length; ++j ) {
            const [w, x, y, z] = turns.get( f )[j], above = world[parents[j]];
            const local = new THREE.Matrix4().compose( new THREE.Vector3( ...move[j] ), new THREE.Quaternion( x, y, z, w ),
                                                       new THREE.Vector3( 1, 1, 1 ) );
            world.push( above ? above.clone().multiply( local ) : local );
            if ( column[j] < 0 )
                continue;
            const p = new THREE.Vector3().setFromMatrixPosition( world[j] ), at = 24 * ( f * joints + column[j] );
            const d = npz.positions.data;
            worst = Math.max( worst, Math.hypot( p.x - d.readDoubleLE( at ), p.y - d.readDoubleLE( at + 8 ),
                                                 p.z - d.readDoubleLE( at + 16 ) ) );
            ++compared;
        }
    }
    console.log( `TinyUSDZ: ${compared} places, farthest off ${worst.toExponential( 1 )} m` );
    return compared > 0 && worst < limit;
}
process.exit( ok ? 0 : 1 );
