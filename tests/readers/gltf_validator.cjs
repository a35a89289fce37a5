// Khronos' validator on files of ours: fails on any error or warning.
//   node gltf_validator.cjs FILE.glb…      (NODE_PATH names the folder of gltf-validator)
const validator = require( 'gltf-validator' ), fs = require( 'fs' );
( async () => {
    let bad = 0;
    for ( const file of process.argv.slice( 2 ) ) {
        const report = await validator.validateBytes( new Uint8Array( fs.readFileSync( file ) ), {
            severityOverrides: {}, maxIssues: 1000 } );
        const { numErrors, numWarnings, messages } = report.issues;
        console.log( `${file}: ${numErrors} errors, ${numWarnings} warnings` );
        for ( const m of messages.filter( m => m.severity < 2 ).slice( 0, 8 ) )
            console.log( `  ${m.code} ${m.message} ${m.pointer}` );
        bad += numErrors + numWarnings;
    }
    process.exit( bad > 0 ? 1 : 0 );
} )();
