exec 9>&2 2>&1 </dev/null
@RESTORE@
__forge_save() {
  __forge_code=$?
  trap - EXIT
  set +efux
  {
    compgen -v | while IFS= read -r __forge_name; do
      case $__forge_name in
        __forge_* | BASH | BASH_* | BASHOPTS | BASHPID | SHELLOPTS | _ | RANDOM | SRANDOM | SECONDS | LINENO | SHLVL) ;;
        PPID | UID | EUID | GROUPS | DIRSTACK | FUNCNAME | PIPESTATUS | HISTCMD | EPOCH* | COMP_* | OPTIND | OPTERR) ;;
        *) declare -p -- "$__forge_name" ;;
      esac
    done
    unset -f __forge_save
    declare -f
    umask -p
    printf 'cd -- %q || { echo "the working directory is gone"; cd /; }\n# end\n' "$PWD"
  } >&9 2>/dev/null
  exit "$__forge_code"
}
trap __forge_save EXIT
eval @COMMAND@ 9>&-
__forge_save
