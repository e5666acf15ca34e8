import type { Endpoint } from '../plugin/endpoint.ts'
import type { CredentialParameters } from './client-authentication.ts'
import type { OwnedPart } from './collect.ts'
import { isSchema, namedParameters } from './schema.ts'

const nameForm = /^[a-z][A-Za-z\d]{0,49}$/u
const metadataForm = /^[a-z][a-z\d_]{0,90}_(?:endpoint|uri)$/u

/** The `endpoint` of events that belong to no endpoint. */
const reservedNames: ReadonlySet<string> = new Set(['unknown', 'authenticateUser', 'authorize', 'revoke'])

/** Whether this text can be the path of an endpoint. */
export const isPath = (path: unknown): path is `/${string}` =>
  typeof path === 'string' &&
  /^\/[\w\-.~/]*[\w\-.~]$/u.test(path) &&
  !path.split('/').some((segment) => segment === '.' || segment === '..')

const known = {
  methods: ['GET', 'POST', 'PUT', 'DELETE'],
  body: [undefined, 'form', 'json'],
  caller: ['client', 'scope', 'token', 'anyone'],
  cors: [undefined, 'none', 'clients', 'public'],
  flag: [undefined, true, false],
} as const

/** @throws TypeError when an endpoint of a plugin is malformed. */
export function assertEndpoint({ plugin, part }: OwnedPart<Endpoint>, credentials: CredentialParameters): void {
  const { name, path, metadataName, methods, body, caller, scope, cors, params } = part
  const refuse = (problem: string): TypeError => new TypeError(`plugins: ${problem}`)
  if (typeof name !== 'string' || !nameForm.test(name) || name in {} || reservedNames.has(name)) {
    throw refuse(
      `"${String(name)}" is not a valid name of an endpoint of ${plugin}; use letters and digits, as in deviceAuthorization`,
    )
  }
  const what = `the endpoint ${name} of ${plugin}`
  const assertOneOf = (member: string, value: unknown, values: readonly unknown[]): void => {
    if (values.includes(value)) return
    const expected = values.filter((one) => one !== undefined).join(', ')
    throw refuse(`${what} has an unknown value of ${member}; known values: ${expected}`)
  }
  if (!isPath(path)) throw refuse(`${what} requires a path such as /connect/device`)
  if (metadataName !== undefined && !metadataForm.test(metadataName)) {
    throw refuse(`${what} requires a metadataName that ends with _endpoint or _uri`)
  }
  if (!Array.isArray(methods) || methods.length === 0) throw refuse(`${what} requires methods, such as ['POST']`)
  for (const method of methods) assertOneOf('methods', method, known.methods)
  assertOneOf('body', body, known.body)
  assertOneOf('caller', caller, known.caller)
  assertOneOf('cors', cors, known.cors)
  assertOneOf('guessable', part.guessable, known.flag)
  assertOneOf('readsProofs', part.readsProofs, caller === 'client' ? known.flag : [undefined, false])
  assertOneOf('effects', part.effects, known.flag)
  assertOneOf('beforeIssuerPath', part.beforeIssuerPath, known.flag)
  if (typeof part.handle !== 'function') throw refuse(`${what} requires handle()`)
  if (part.presentError !== undefined && (typeof part.presentError !== 'function' || caller !== 'anyone')) {
    throw refuse(`${what} has presentError, which must be a function and belongs to the caller anyone`)
  }
  if (params !== undefined && !isSchema(params))
    throw refuse(`${what} requires params that are a Standard Schema, such as v.object()`)
  if (body === 'json' && params === undefined) throw refuse(`${what} has the body json and requires params`)
  if (caller === 'token' ? typeof scope !== 'string' || scope === '' : scope !== undefined) {
    throw refuse(`${what} ${scope === undefined ? 'requires' : 'cannot have'} scope, which belongs to the caller token`)
  }
  const declared = params === undefined ? [] : namedParameters(params)
  const taken = credentials[caller].find((parameter) => declared.includes(parameter))
  if (taken !== undefined) {
    throw refuse(`${what} cannot have ${taken} in params, because the core reads it; remove it`)
  }
}
