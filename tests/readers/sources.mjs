// Joints of a glTF or FBX file as three.js places them, against the positions of an NPZ file that was made of its
// first skeleton and take.
//   node sources.mjs MODULES FILE FILE.npz
import fs from 'fs';
import path from 'path';
import { pathToFileURL } from 'url';
import { readNpz, texts } from './npz.mjs';

const [modules, file, arrays] = process.argv.slice( 2 );
const load = name => import( pathToFileURL( `${modules}/${name}` ) );
globalThis.self = globalThis;
globalThis.window = globalThis;
globalThis.ProgressEvent ??= class extends Event {};
const THREE = await load( 'three/build/three.module.js' );
THREE.TextureLoader.prototype.load = () => new THREE.Texture();

const npz = readNpz( arrays ), names = texts( npz.names ), [frames, joints] = npz.positions.shape;
const fps = npz.fps.data.readDoubleLE( 0 ), place = ( f, j ) => [0, 8, 16].map(
    c => npz.positions.data.readDoubleLE( 24 * ( f * joints + j ) + c ) );

// Everything in one JSON text, without pictures.
function plainGltf() {
    const bytes = fs.readFileSync( file );
    let json, bin = null;
    if ( bytes.toString( 'latin1', 0, 4 ) === 'glTF' ) {
        const size = bytes.readUInt32LE( 12 );
        json = JSON.parse( bytes.toString( 'utf8', 20, 20 + size ) );
        bin = bytes.subarray( 28 + size );
    } else
        json = JSON.parse( bytes.toString( 'utf8' ) );
    for ( const buffer of json.buffers ?? [] ) {
        const data = buffer.uri === undefined         ? bin
                     : buffer.uri.startsWith( 'data:' ) ? null
                                                        : fs.readFileSync( path.join( path.dirname( file ), buffer.uri ) );
        if ( data !== null )
            buffer.uri = 'data:application/octet-stream;base64,' + data.toString( 'base64' );
    }
    for ( const key of ['materials', 'textures', 'images', 'samplers', 'extensionsRequired'] )
        delete json[key];
    for ( const mesh of json.meshes ?? [] )
        for ( const primitive of mesh.primitives )
            delete primitive.material;
    return JSON.stringify( json );
}

let root, clips, scale = 1;
if ( file.endsWith( '.fbx' ) ) {
    const { FBXLoader } = await load( 'three/examples/jsm/loaders/FBXLoader.js' );
    const bytes = fs.readFileSync( file );
    try {
        root = new FBXLoader().parse( bytes.buffer.slice( bytes.byteOffset, bytes.byteOffset + bytes.byteLength ), '' );
    } catch ( e ) {
        console.log( `${path.basename( file )}: three.js cannot read it (${String( e.message ?? e ).slice( 0, 80 )})` );
        process.exit( 0 );
    }
    clips = root.animations;
    scale = 0.01 * ( root.userData.unitScaleFactor ?? 1 );
} else {
    const { GLTFLoader } = await load( 'three/examples/jsm/loaders/GLTFLoader.js' );
    const gltf = await new GLTFLoader().parseAsync( plainGltf(), '' );
    root = gltf.scene;
    clips = gltf.animations;
}

const found = new Map(), twice = new Set(), at = new THREE.Vector3();
root.traverse( node => {
    const name = node.userData?.name ?? node.name;
    if ( name !== '' && found.has( name ) )
        twice.add( name );
    found.set( name, node );
} );
const plain = s => THREE.PropertyBinding.sanitizeNodeName( s );
const known = names.map( n => twice.has( n ) ? undefined : found.get( n ) ?? found.get( plain( n ) ) );
let mixer = null, start = 0, last = 0, tracks = [];
if ( clips.length > 0 && frames > 1 ) {
    mixer = new THREE.AnimationMixer( root );
    tracks = clips[0].tracks.filter( t => !t.name.endsWith( 'morphTargetInfluences' ) );
    start = Math.min( ...tracks.map( t => t.times[0] ) );
    last = Math.max( ...tracks.map( t => t.times[t.times.length - 1] ) );
    const action = mixer.clipAction( new THREE.AnimationClip( 'take', -1, tracks ) );
    action.setLoop( THREE.LoopOnce );
    action.clampWhenFinished = true;
    action.play();
}
// Curves of FBX between their keys, and after them, are not what three.js makes of them.
const stays = t => t.values.every( ( v, i ) => Math.abs( v - t.values[i % t.getValueSize()] ) < 1e-6 );
const sure = time => !file.endsWith( '.fbx' ) || frames === 1 ||
    ( time < last && tracks.every( t => t.times.some( k => Math.abs( k - time ) < 1e-4 ) || stays( t ) ) );
let worst = 0, compared = 0, size = 1e-9, where = '';
for ( let f = 0; f < frames; ++f ) {
    if ( !sure( start + f / fps ) )
        continue;
    mixer?.setTime( start + f / fps );
    root.updateMatrixWorld( true );
    for ( let j = 0; j < joints; ++j ) {
        if ( known[j] === undefined )
            continue;
        at.setFromMatrixPosition( known[j].matrixWorld ).multiplyScalar( scale );
        const p = place( f, j ), q = place( 0, 0 ), off = Math.hypot( p[0] - at.x, p[1] - at.y, p[2] - at.z );
        size = Math.max( size, Math.hypot( p[0] - q[0], p[1] - q[1], p[2] - q[2] ) );
        if ( off > worst )
            where = `${names[j]} in frame ${f}: ${p.map( v => v.toFixed( 4 ) )} and ${at.toArray().map( v => v.toFixed( 4 ) )}`;
        worst = Math.max( worst, off );
        ++compared;
    }
}
const fine = worst <= 1e-4 * size;
console.log( `${path.basename( file )}: ${compared} places, farthest off ${( worst / size ).toExponential( 1 )} of the size` +
             ( fine ? '' : ` (${where})` ) );
process.exit( fine || compared === 0 ? 0 : 1 );
