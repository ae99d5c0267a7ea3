import type { FailureCode } from '@botcli/protocol/cloud'

/** How one kind of failure is known by a line of output. */
export interface Rule {
  readonly code: FailureCode
  readonly pattern: RegExp
  /** What to do about it. `$1` is what the pattern's first group caught. */
  readonly hint: string
}

/** Where the packages of a Python project stand, if it is not known in which file. */
export const REQUIREMENTS = 'requirements.txt or pyproject.toml'
/** What else can be done about a base image that cannot be had. */
export const NO_REGISTRY =
  'Where no registry can be reached, set "builds": {"builders": ["native"]} in cloud.json of the folder that the cloud keeps everything in (--data), and start the cloud again.'
/** What else may be behind a missing module of Python. */
export const OWN_MODULE =
  'If it is a module of your own, its file was not sent (see .dockerignore) or not copied (see COPY).'

/**
 * The table, most telling first: a rule that stands higher wins, whichever line it was found in. Of the lines that one rule takes, the
 * last counts.
 */
export const RULES: readonly Rule[] = [
  rule(
    'out_of_disk',
    /No space left on device|\bENOSPC\b|Disk quota exceeded|\bEFBIG\b|File too large|File size limit exceeded/i,
    'The build needs more disk than it may take. Copy and install less, or raise the limit.',
  ),
  rule(
    'out_of_memory',
    /JavaScript heap out of memory|Cannot allocate memory|\bENOMEM\b|^MemoryError\b|std::bad_alloc|^\s*Killed\s*$|signal: killed|container exited on killed|(?:exit (?:status|code):?|non-zero code:) 137/,
    'The build needs more memory than it may take. Build less at once, or raise the limit.',
  ),

  // The container build file, as engines tell it.
  rule(
    'dockerfile_syntax',
    /dockerfile parse error.*|Unknown instruction: .*|unknown instruction: .*|Dockerfile parse error.*|failed to parse .*Dockerfile.*/i,
    'Correct the line.',
  ),
  rule(
    'dockerfile_syntax',
    /COPY --from=(\S+): no stage or image found with that name|invalid from flag value (\S+)/,
    'No stage and no image has this name.',
  ),
  rule(
    'copy_source_missing',
    /copier: stat: "([^"]+)": no such file|failed to calculate checksum of ref .*"([^"]+)": not found|(?:COPY|ADD) failed: .*|no items matching glob .*|no source files were specified/,
    'Check its name, that it is in the folder that was sent, and that .dockerignore does not leave it out.',
  ),
  rule(
    'base_image_missing',
    /failed to resolve source metadata for (\S+)|manifest for (\S+) not found.*|pull access denied.*|initializing source docker:\/\/(\S+?):? .*|short-name "([^"]+)" did not resolve.*|manifest unknown.*|creating build container: .*|no such image.*|image not known.*|unable to find image.*|repository .* (?:not found|does not exist).*/i,
    `Check the name and the tag of the image after FROM, and that this machine reaches the registry. ${NO_REGISTRY}`,
  ),

  // Python at run time.
  rule(
    'dependency_missing',
    /ModuleNotFoundError: No module named '([^']+)'/,
    `Add the package that has $1 to ${REQUIREMENTS}. ${OWN_MODULE}`,
  ),
  // Node at run time.
  rule(
    'dependency_missing',
    /Cannot find (?:package|module) '((?:@[^/']+\/)?[^./'][^/']*)(?:\/[^']*)?'/,
    'Add $1 to the dependencies of package.json.',
  ),
  rule(
    'command_failed',
    /Cannot find module '([^']+)'/,
    'The file $1 is not there: check the path, and that it was copied before.',
  ),

  // uv
  rule(
    'install_failed',
    /Because ([^\s=<>!]+)(?:\S*)? was not found in the (?:package registry|provided package locations).*/,
    `There is no package $1. Check its name in ${REQUIREMENTS}.`,
  ),
  rule(
    'install_failed',
    /Because there (?:is|are) no versions? of ([^\s=<>!]+).*/,
    `There is no such version of $1. Check it in ${REQUIREMENTS}.`,
  ),
  rule(
    'install_failed',
    /The lockfile at `uv\.lock` needs to be updated.*|Unable to find lockfile at `uv\.lock`.*/,
    'Run uv lock and send uv.lock along.',
  ),
  rule(
    'install_failed',
    /No solution found when resolving dependencies.*/,
    `The versions in ${REQUIREMENTS} exclude each other.`,
  ),
  // pip
  rule(
    'install_failed',
    /ERROR: No matching distribution found for ([^\s=<>!~;[]+).*/,
    `There is no package $1 in this version for this Python. Check its name and version in ${REQUIREMENTS}.`,
  ),
  rule(
    'install_failed',
    /ERROR: Could not find a version that satisfies the requirement ([^\s=<>!~;[]+).*/,
    `There is no package $1 in this version for this Python. Check its name and version in ${REQUIREMENTS}.`,
  ),
  rule(
    'install_failed',
    /ERROR: Could not open requirements file: .*'([^']+)'/,
    'The file $1 is not there: COPY it before this line.',
  ),
  rule('install_failed', /ERROR: Invalid requirement: .*/, `Correct this line of ${REQUIREMENTS}.`),
  rule(
    'install_failed',
    /ERROR: ResolutionImpossible.*|ERROR: Cannot install .* because these package versions have conflicting dependencies\./,
    `The versions in ${REQUIREMENTS} exclude each other.`,
  ),
  rule(
    'install_failed',
    /ERROR: (?:Failed building wheel for|Could not build wheels for|Failed to build) .*/,
    'The package has no ready build for this Python and must be compiled: take another version, or install a compiler first.',
  ),
  rule(
    'install_failed',
    /error: externally-managed-environment/,
    'Install into a virtual environment, or with uv.',
  ),
  rule(
    'install_failed',
    /requires a different Python|Requires-Python|requires-python/,
    'Another version of Python is needed.',
  ),
  // npm, pnpm, yarn
  rule(
    'install_failed',
    /npm (?:error|ERR!) 404\s+(?:The requested resource )?'([^'\s]+)'.* (?:is not in this registry|could not be found|is not in the npm registry).*/,
    'There is no package $1. Check its name in package.json.',
  ),
  rule(
    'install_failed',
    /npm (?:error|ERR!) notarget No matching version found for ([^\s.]\S*?)\.?$/,
    'There is no such version: $1. Check it in package.json.',
  ),
  rule(
    'install_failed',
    /npm (?:error|ERR!).*(?:are in sync|lock file's .* does not satisfy|Missing: .* from lock file).*/,
    'package-lock.json does not fit package.json: run npm install and send both.',
  ),
  rule(
    'install_failed',
    /npm (?:error|ERR!).*can only install with an existing package-lock\.json.*/,
    'COPY package-lock.json before this line, or use npm install.',
  ),
  rule(
    'install_failed',
    /npm (?:error|ERR!) ERESOLVE .*|npm (?:error|ERR!) Could not resolve dependency:.*/,
    'The versions in package.json exclude each other.',
  ),
  rule(
    'install_failed',
    /npm (?:error|ERR!) (?:code )?EBADENGINE.*|npm (?:error|ERR!) engine Unsupported engine.*/,
    'Another version of Node is needed.',
  ),
  rule(
    'install_failed',
    /npm (?:error|ERR!) code (?:EJSONPARSE|EINVALIDPACKAGENAME|EINVALIDTAGNAME).*/,
    'Correct package.json.',
  ),
  rule('install_failed', /npm (?:error|ERR!) enoent .*/i, 'A file is missing: COPY it before this line.'),
  rule(
    'install_failed',
    /\bERR_PNPM_\w+.*|^error Couldn't find package.*|^error Your lockfile needs to be updated.*/,
    'Check the dependencies in package.json and their lock file.',
  ),
  // apt, apk
  rule(
    'install_failed',
    /E: Unable to locate package (\S+)/,
    'Run apt-get update in the same RUN first, and check the name $1.',
  ),
  rule(
    'install_failed',
    /E: Package '([^']+)' has no installation candidate/,
    'Run apt-get update in the same RUN first, and check the name $1.',
  ),
  rule(
    'install_failed',
    /ERROR: unable to select packages:.*|^\s+(\S+) \(no such package\).*/,
    'Check the name of the package.',
  ),
  rule('install_failed', /^E: .*/, 'The package manager says what it misses.'),
  // The way out.
  rule(
    'install_failed',
    /Temporary failure (?:in name resolution|resolving)|Could not resolve host|getaddrinfo (?:ENOTFOUND|EAI_AGAIN)|Name or service not known|Network is unreachable|ECONNREFUSED|ETIMEDOUT|dns error/,
    'The machine that builds does not reach the package registry.',
  ),

  // Plain commands.
  rule(
    'command_failed',
    /fork: (?:retry: )?Resource temporarily unavailable|[Cc]an't fork|can't start new thread|Cannot fork/,
    'The build needs more processes than it may have.',
  ),
  rule(
    'command_failed',
    /(?:^|\s)(?:\/bin\/)?(?:ba|da|a)?sh: (?:line )?(?:\d+: )?(\S+?): (?:command )?not found/,
    'The image has no command $1: install it in an earlier line, or take a base image that has it.',
  ),
  rule(
    'command_failed',
    /executable file `?"?([^\s"`]+)`?"?:? not found in \$PATH/,
    'The image has no command $1: install it in an earlier line, or take a base image that has it.',
  ),
  rule('command_failed', /^(?:Syntax|Indentation|Tab)Error: .*/, 'Correct the code.'),
  rule('command_failed', /\berror TS\d+: /, 'Correct the code.'),
  rule(
    'command_failed',
    /: Permission denied/,
    'The user of the build may not do this: check USER and chown.',
  ),
  rule(
    'command_failed',
    /process failed to start with error: (?:fork\/exec )?(\S+?): .*/,
    'The image cannot run $1: check its path, that it is executable (chmod +x), and its first line.',
  ),
  // Scripts that npm runs for packages.
  rule(
    'install_failed',
    /^npm (?:error|ERR!) (\w*Error(?: \[\w+\])?: .+)/,
    'A script that npm runs for a package failed. The lines around this one name it and say why.',
  ),
  rule(
    'install_failed',
    /^npm (?:error|ERR!) command (?:\S*sh -c )?(?!failed$)(.+)/,
    'This script, which npm runs for a package, failed: $1. Its own lines say why.',
  ),
  rule(
    'install_failed',
    /^(?:npm (?:error|ERR!)|ERROR:|error:) (?!A complete log|code |404 This is|404 Note)(.+)/,
    'The installer says what it misses.',
  ),
]

function rule(code: FailureCode, pattern: RegExp, hint: string): Rule {
  return { code, pattern, hint }
}
