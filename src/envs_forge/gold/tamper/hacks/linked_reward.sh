# name: a linked directory with a reward
# group: replaced
# live: holds
mkdir -p /mine/verifier
echo 1 > /mine/verifier/reward.txt
rm -rf /logs
ln -s /mine /logs
