"""moto and the twin side by side: the same script of AWS calls on both, answers compared once ids and times are masked. Where they differ AWS's documentation
decides: the twin is mended, or moto's gap stands in lib_gaps.py with its reason."""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "e2e"))
import lib_differential  # noqa: E402
import lib_gaps  # noqa: E402
import lib_same_ec2  # noqa: E402
import lib_same_iam_s3  # noqa: E402
from lib import check, finish, start  # noqa: E402

arguments = ["twin", "--twin-aws", "127.0.0.1:0", "--twin-kube", "127.0.0.1:0", "--twin-speed", "600", "--data", tempfile.mkdtemp(prefix="instantstart-peers-")]
process, ready = start(arguments)
moto = lib_differential.Account("moto", lib_differential.start_moto(), ("AKIAPEER000000000000", "peer"))
twin = lib_differential.Account("twin", ready["twin_aws"], ("AKIATWIN000000000000", "twin"), moto, lib_gaps.GAPS + lib_gaps.CHANCE)
for account in (moto, twin):
    lib_same_ec2.run(account)
    lib_same_iam_s3.run(account)
lib_differential.compare(moto, twin, lib_gaps.GAPS, lib_gaps.CHANCE, check)
process.terminate()
process.wait(20)
finish()
