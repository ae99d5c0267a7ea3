import type { Service, ServiceParameters, Value } from '../services/index.ts'
import { type Argument, call, type Expression, named, pythonString } from './python/expression.ts'
import type { Imports } from './python/imports.ts'

/** The constant of a generated bot that holds its prompt. */
export const PROMPT_NAME = 'SYSTEM_INSTRUCTION'

/** The call that makes a service. What it needs is added to the imports. */
export function serviceCall(service: Service, imports: Imports): Expression {
  imports.from(`pipecat.services.${service.module}`, service.className)
  const args = argumentsOf(service.parameters, imports)
  if (service.settings !== undefined) {
    args.push(
      named('settings', call(`${service.className}.Settings`, argumentsOf(service.settings, imports))),
    )
  }
  return call(service.className, args)
}

/** Optional ones come last, by way of a dictionary that has only those that are set. */
function argumentsOf(parameters: ServiceParameters, imports: Imports): Argument[] {
  const given = new Map<string, string[]>()
  const args: Argument[] = []
  for (const [parameter, value] of Object.entries(parameters)) {
    if (value.kind === 'optional') {
      const reader = readerOf(value, imports)
      given.set(reader, [...(given.get(reader) ?? []), `${parameter}=${pythonString(value.variable)}`])
    } else {
      args.push(named(parameter, expressionOf(value, imports)))
    }
  }
  for (const [reader, names] of given) args.push({ value: `**${reader}${names.join(', ')})` })
  return args
}

/** How the variables of optional parameters are read, up to their names. */
function readerOf({ type, allowed }: Value & { readonly kind: 'optional' }, imports: Imports): string {
  if (type !== undefined) {
    imports.from('settings', 'given_whole')
    return 'given_whole('
  }
  if (allowed !== undefined) {
    imports.from('settings', 'given_one_of')
    return `given_one_of([${allowed.map(pythonString).join(', ')}], `
  }
  imports.from('settings', 'given')
  return 'given('
}

function expressionOf(value: Exclude<Value, { readonly kind: 'optional' }>, imports: Imports): Expression {
  switch (value.kind) {
    case 'required':
      imports.from('settings', 'required')
      return `required(${pythonString(value.variable)})`
    case 'either':
      imports.from('settings', 'either')
      return call('either', [
        { value: pythonString(value.variable) },
        { value: pythonString(value.fallback) },
      ])
    case 'literal':
      return value.code
    case 'member':
      imports.from(`pipecat.services.${value.module}`, value.name)
      return `${value.name}.${value.member}`
    case 'instruction':
      return PROMPT_NAME
    case 'session':
      return 'session'
    case 'object':
      imports.from(`pipecat.services.${value.module}`, value.name)
      return call(value.name, argumentsOf(value.parameters, imports))
  }
}
