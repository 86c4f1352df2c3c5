exec 9>&2 2>&1 </dev/null
@RESTORE@
__forge_save() {
  __forge_code=$?
  trap - EXIT
  set +efux
  __forge_pwd=$PWD
  export __forge_pwd
  {
    export -p
    echo "umask $(umask)"
    echo 'cd "$__forge_pwd" || { echo "the working directory is gone"; cd /; }; unset __forge_pwd'
    echo '# end'
  } >&9 2>/dev/null
  exit "$__forge_code"
}
trap __forge_save EXIT
eval @COMMAND@ 9>&-
__forge_save
