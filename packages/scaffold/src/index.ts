export { ANSWERS_FILE, type Answers, isAnswers, readAnswers } from './answers.ts'
export type {
  BotType,
  CallMode,
  ClientFramework,
  ClientServer,
  Configuration,
  Mode,
  ProjectNames,
  ScaffoldTransport,
  ServiceCategory,
} from './configuration.ts'
export {
  type ComparedFile,
  type ComparePolicy,
  type Comparison,
  compare,
  conflictsOf,
} from './disk/compare.ts'
export type { ProjectFolder } from './disk/folder.ts'
export {
  compareGuides,
  compareProject,
  openFolder,
  type ProjectComparison,
  readOwnFile,
  reviewGuides,
} from './disk/project.ts'
export { type WriteOptions, write } from './disk/write.ts'
export { ScaffoldError, type ScaffoldErrorCode } from './errors.ts'
export {
  AGENTS_FILE,
  GUIDE_FILES,
  type GuideAction,
  type GuidePolicy,
  type GuideReview,
  type GuideState,
} from './guide/rules.ts'
export { compareVersions, readStamp } from './guide/stamp.ts'
export { listOptions, type OptionList } from './list-options.ts'
export { makeNames } from './names.ts'
export { type Choice, choicesOf } from './options/allowed.ts'
export { commandFor, optionsFor, quoteForShell, targetArgument } from './options/command-line.ts'
export { COMMAND_OPTIONS, type CommandOption } from './options/command-options.ts'
export { CONDITIONS, type ConditionName, type Draft } from './options/conditions.ts'
export { configurationFields, type FieldValue } from './options/fields.ts'
export type { FlagValues, ScaffoldKey, ScaffoldOption, TextKey, ToggleKey } from './options/option.ts'
export { optionByKey, SCAFFOLD_OPTIONS } from './options/table.ts'
export { callFlows, TELEPHONY_TRANSPORTS, TRANSPORT_KINDS, WEB_TRANSPORTS } from './options/transports.ts'
export type { EnvVariable, NextStep, PlannedFile } from './plan.ts'
export { draftOf } from './resolve/draft.ts'
export { type Problem, type ProblemCode, problemLine } from './resolve/problem.ts'
export {
  QUICKSTART,
  QUICKSTART_CONFIGURATION,
  QUICKSTART_DIRECTORY,
  quickstartProblems,
} from './resolve/quickstart.ts'
export { type ConfigFile, MAX_CONFIG_BYTES } from './resolve/read-config.ts'
export { type Resolution, type ResolveInput, resolve } from './resolve/resolve.ts'
export { type PlanInput, planGuides, planProject } from './scaffold.ts'
export { botcliVersion, envVariables, nextSteps } from './server/index.ts'
export { chooseTarget, type Target, type TargetInput } from './target.ts'
