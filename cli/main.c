#include <stdio.h>

int main( void )
{
    printf( "troupe %s\n", TROUPE_VERSION );
    return 0;
}
