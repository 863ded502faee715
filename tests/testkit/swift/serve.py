"""One server of OpenStack Swift, for tests. Usage: serve.py FOLDER KIND, KIND being ring, account, container, object or proxy.

FOLDER holds swift.conf and KIND-server.conf; `ring` writes the rings, whose ports stand behind it: serve.py FOLDER ring
ACCOUNT CONTAINER OBJECT.
"""

import sys

from swift.common import utils


def make_rings(folder, ports):
    from swift.common.ring import RingBuilder

    for name, port in zip(("account", "container", "object"), ports):
        builder = RingBuilder(4, 1, 0)
        builder.add_dev(
            {
                "id": 0,
                "region": 1,
                "zone": 1,
                "ip": "127.0.0.1",
                "port": int(port),
                "device": "d1",
                "weight": 1,
            }
        )
        builder.rebalance()
        builder.get_ring().save(f"{folder}/{name}.ring.gz")


def serve(folder, kind):
    from swift.common.wsgi import run_wsgi

    options = {}
    if kind == "object":
        from swift.obj.server import global_conf_callback

        options["global_conf_callback"] = global_conf_callback
    sys.exit(run_wsgi(f"{folder}/{kind}-server.conf", f"{kind}-server", **options))


folder, kind, *rest = sys.argv[1:]
utils.set_swift_dir(folder)
if kind == "ring":
    make_rings(folder, rest)
else:
    serve(folder, kind)
