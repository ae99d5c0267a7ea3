// What can be told of a project without running it. This entry loads nothing of the runner itself.
export { type BotFile, findBot, isPython } from './bot-source/discover.ts'
export { chosenPython, PYTHON_NAMES } from './bot-source/interpreter.ts'
export { findPythonWheel } from './guests/python-package.ts'
