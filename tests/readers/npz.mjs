// NPZ files whose arrays are stored, not compressed: as Troupe writes them.
import fs from 'fs';

export function readNpz( file ) {
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

export function texts( array ) {
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
