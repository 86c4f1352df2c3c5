#!/bin/bash
printf '#!/bin/bash\nawk "{ t += \\$2 } END { print t }" "$1"\n' > /usr/local/bin/total
chmod 755 /usr/local/bin/total
