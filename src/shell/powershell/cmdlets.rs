//! The cmdlets that have an equivalent program.

/// A cmdlet: its names, its positional parameters, and the words that it becomes. In these words `name` is replaced by
/// the values of a parameter, `name:-x` by an option with each value, and `name?-x` by an option if the switch is given.
/// `dropped` lists parameters whose values are ignored.
pub(super) struct Cmdlet {
    pub names: &'static str,
    pub positions: &'static str,
    pub becomes: &'static str,
    pub dropped: &'static str,
}

pub(super) const CMDLETS: &[Cmdlet] = &[
    Cmdlet {
        names: "remove-item ri rm del erase rd rmdir",
        positions: "path",
        becomes: "rm recurse?-r force?-f path literalpath",
        dropped: "filter include exclude stream credential",
    },
    Cmdlet {
        names: "set-content add-content ac sc out-file clear-content clc export-csv epcsv export-clixml",
        positions: "path value",
        becomes: "> path literalpath filepath value inputobject",
        dropped: "encoding width delimiter stream filter include exclude credential",
    },
    Cmdlet {
        names: "tee-object tee",
        positions: "filepath",
        becomes: "tee append?-a filepath literalpath",
        dropped: "variable encoding inputobject",
    },
    Cmdlet {
        names: "copy-item cp copy cpi",
        positions: "path destination",
        becomes: "cp recurse?-r force?-f path literalpath destination",
        dropped: "filter include exclude credential tosession fromsession",
    },
    Cmdlet {
        names: "move-item mv move mi",
        positions: "path destination",
        becomes: "mv force?-f path literalpath destination",
        dropped: "filter include exclude credential",
    },
    Cmdlet {
        names: "rename-item ren rni",
        positions: "path newname",
        becomes: "mv force?-f path literalpath newname",
        dropped: "credential",
    },
    Cmdlet {
        names: "new-item ni",
        positions: "path",
        becomes: "new-item path name itemtype value target",
        dropped: "credential",
    },
    Cmdlet { names: "mkdir md", positions: "path", becomes: "mkdir -p path name", dropped: "" },
    Cmdlet {
        names: "get-content gc cat type import-csv ipcsv import-clixml",
        positions: "path",
        becomes: "cat path literalpath",
        dropped: "tail head first last totalcount readcount delimiter encoding stream filter include exclude header",
    },
    Cmdlet {
        names: "get-childitem gci ls dir",
        positions: "path filter",
        becomes: "ls recurse?-R force?-a path literalpath",
        dropped: "filter include exclude depth attributes",
    },
    Cmdlet {
        names: "get-item gi get-itemproperty gp get-itempropertyvalue gpv get-acl test-path split-path get-filehash",
        positions: "path",
        becomes: "ls -d path literalpath",
        dropped: "name pathtype filter include exclude algorithm stream",
    },
    Cmdlet {
        names: "resolve-path rvpa convert-path",
        positions: "path",
        becomes: "realpath path literalpath",
        dropped: "",
    },
    Cmdlet {
        names: "select-string sls",
        positions: "pattern path",
        becomes: "grep pattern:-e path literalpath",
        dropped: "context encoding include exclude culture inputobject",
    },
    Cmdlet {
        names: "invoke-webrequest iwr invoke-restmethod irm curl wget",
        positions: "uri",
        becomes: "curl method:-X custommethod:-X body:-d headers:-H infile:-T outfile:-o form:-F useragent:-A proxy:-x \
            skipcertificatecheck?-k uri",
        dropped: "contenttype credential token authentication sessionvariable websession timeoutsec maximumredirection \
            maximumretrycount retryintervalsec transferencoding httpversion statuscodevariable \
            responseheadersvariable proxycredential certificate certificatethumbprint sslprotocol",
    },
    Cmdlet {
        names: "start-bitstransfer",
        positions: "source destination",
        becomes: "curl destination:-o source",
        dropped: "displayname priority description credential",
    },
    Cmdlet { names: "invoke-expression iex", positions: "command", becomes: "eval command", dropped: "" },
    Cmdlet {
        names: "start-process saps start",
        positions: "filepath argumentlist",
        becomes: "start-process filepath argumentlist verb workingdirectory redirectstandardoutput \
            redirectstandarderror",
        dropped: "windowstyle credential redirectstandardinput environment",
    },
    Cmdlet {
        names: "stop-process kill spps",
        positions: "id",
        becomes: "kill force?-9 id name inputobject",
        dropped: "",
    },
    Cmdlet { names: "get-process ps gps", positions: "name", becomes: "ps", dropped: "id computername module" },
    Cmdlet {
        names: "set-location cd sl chdir",
        positions: "path",
        becomes: "cd path literalpath",
        dropped: "stackname",
    },
    Cmdlet { names: "push-location pushd", positions: "path", becomes: "pushd path literalpath", dropped: "stackname" },
    Cmdlet { names: "pop-location popd", positions: "", becomes: "popd", dropped: "stackname" },
    Cmdlet {
        names: "get-location gl pwd",
        positions: "",
        becomes: "pwd",
        dropped: "psdrive psprovider stack stackname",
    },
    Cmdlet {
        names: "write-output echo write write-host write-verbose write-warning write-error write-information \
            write-debug",
        positions: "inputobject",
        becomes: "echo inputobject object message messagedata",
        dropped: "foregroundcolor backgroundcolor separator category errorid tags",
    },
    Cmdlet {
        names: "start-sleep sleep",
        positions: "seconds",
        becomes: "sleep seconds",
        dropped: "milliseconds duration",
    },
    Cmdlet { names: "stop-computer", positions: "", becomes: "shutdown -h now", dropped: "computername credential" },
    Cmdlet { names: "restart-computer", positions: "", becomes: "shutdown -r now", dropped: "computername credential" },
    Cmdlet {
        names: "format-volume clear-disk remove-partition initialize-disk diskpart",
        positions: "driveletter",
        becomes: "wipefs driveletter number disknumber path",
        dropped: "filesystem newfilesystemlabel partitionstyle",
    },
    Cmdlet { names: "set-item si", positions: "path value", becomes: "> path literalpath value", dropped: "options" },
    Cmdlet {
        names: "set-alias sal new-alias nal",
        positions: "name value",
        becomes: "set-alias name value",
        dropped: "scope option description",
    },
    Cmdlet {
        names: "set-variable sv new-variable nv",
        positions: "name value",
        becomes: "set-variable name value",
        dropped: "scope option description visibility",
    },
    Cmdlet {
        names: "join-path",
        positions: "path childpath",
        becomes: "join-path path childpath additionalchildpath",
        dropped: "resolve",
    },
    Cmdlet {
        names: "set-itemproperty sp new-itemproperty clear-itemproperty remove-itemproperty rp",
        positions: "path name value",
        becomes: "> path literalpath value",
        dropped: "name propertytype type",
    },
];

/// Parameters of every cmdlet that take a value.
pub(super) const COMMON: &str = "erroraction ea warningaction wa informationaction errorvariable ev outvariable ov \
    warningvariable outbuffer pipelinevariable progressaction";

/// Aliases of cmdlets on Windows that are programs on other systems.
pub(super) const UNIX: &str = "rm rmdir cp mv cat ls dir curl wget kill ps tee echo sleep sort diff mkdir";

/// Whether a list of words contains a word.
pub(super) fn has_word(list: &str, name: &str) -> bool {
    list.split(' ').any(|known| known == name)
}
