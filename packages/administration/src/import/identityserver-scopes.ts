import { isJsonObject } from '@grantry/core'
import type { Members } from '../differences.ts'
import { idProblem, isStandardScope } from './client-draft.ts'
import { hashesIn } from './identityserver-secrets.ts'
import type { Finding } from './imported.ts'
import { createReader, type Reader } from './reader.ts'

/** Configuration of .NET has names in any case. */
export const memberOf = (members: Members, name: string): unknown =>
  Object.entries(members).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1]

/** Members of scopes and resources that only texts on pages need. */
const described = ['DisplayName', 'Description', 'Emphasize', 'Required', 'NonEditable']
const ignoredMembers = ['Name', 'Id', 'Created', 'Updated', 'LastAccessed', ...described]

function ignoreShown(reader: Reader): void {
  if (reader.flag('ShowInDiscoveryDocument') === false)
    reader.changed('ShowInDiscoveryDocument', 'the scope is in scopes_supported of the discovery document', 'cosmetic')
}

/** Returns why a scope cannot have this name. */
const nameProblem = (name: string): string | undefined =>
  idProblem(name) ?? (/[\s"\\]/u.test(name) ? 'its name is no scope of RFC 6749' : undefined)

/** Reads an API scope or an identity resource. */
export function scopeOf(
  exported: Members,
  kind: 'API scope' | 'identity resource',
  findings: Finding[],
): readonly Members[] {
  const name = String(memberOf(exported, 'Name') ?? '')
  const reader = createReader(exported, { entry: `${kind} ${name}`, findings, anyCase: true })
  if (isStandardScope(name)) return []
  const problem = nameProblem(name)
  if (problem !== undefined) {
    reader.note(undefined, `was left out: ${problem}`, 'sign-in')
    return []
  }
  const enabled = reader.flag('Enabled', false)
  const claims = reader.texts('UserClaims')
  reader.ignore(ignoredMembers)
  ignoreShown(reader)
  reader.end()
  return [
    {
      name,
      ...(kind === 'identity resource' && { identity: true }),
      ...(enabled === false && { enabled }),
      ...(claims.length > 0 && { claims }),
    },
  ]
}

/** Returns the names of the scopes of an API, with the claims that old versions have there. */
function scopesOf(
  exportedScopes: unknown,
  name: string,
): readonly (readonly [scope: string, claims: readonly string[]])[] {
  if (!Array.isArray(exportedScopes)) return [[name, []]]
  return exportedScopes.map((scope: unknown) => {
    if (!isJsonObject(scope)) return [String(scope), []]
    const claims = memberOf(scope, 'UserClaims')
    return [
      String(memberOf(scope, 'Name') ?? ''),
      Array.isArray(claims) ? claims.filter((claim) => typeof claim === 'string') : [],
    ]
  })
}

const textsOf = (value: unknown): readonly string[] =>
  typeof value === 'string' ? [value] : Array.isArray(value) ? value.map(String) : []

/** Adds an API to its scopes: its name is their audience, beside those of other APIs with the same scope. */
export function addResource(exported: Members, scopes: Map<string, Members>, findings: Finding[]): void {
  const name = String(memberOf(exported, 'Name') ?? '')
  const reader = createReader(exported, { entry: `API resource ${name}`, findings, anyCase: true })
  const exportedScopes = reader.take('Scopes')
  const secrets = hashesIn(reader.take('ApiSecrets'), 'ApiSecrets', reader)
  const claims = reader.texts('UserClaims')
  const isEnabled = reader.flag('Enabled', false) !== false
  reader.ignore(ignoredMembers)
  ignoreShown(reader)
  reader.ignore(['RequireResourceIndicator'], false)
  reader.end()
  const named = scopesOf(exportedScopes, name).filter(([scope]) => {
    const problem = isStandardScope(scope) ? 'it is a scope of users' : nameProblem(scope)
    if (problem !== undefined) reader.note('Scopes', `${scope} was left out: ${problem}`, 'sign-in')
    return problem === undefined
  })
  if (!isEnabled) {
    reader.note(undefined, 'was left out: it is disabled', 'token')
    for (const [scope] of named) if (!scopes.has(scope)) scopes.set(scope, { name: scope, enabled: false })
    return
  }
  for (const [scope, ofScope] of named) {
    const present = scopes.get(scope) ?? { name: scope }
    const all = [...new Set([...textsOf(present.claims), ...ofScope, ...claims])]
    const audiences = [...new Set([...textsOf(present.audience), name])]
    if (audiences.length > 1) {
      const what = `${scope} is a scope of ${audiences.join(' and ')}: requests have to name one of them in resource, and the configuration needs the plugin resource-indicators`
      reader.changed('Scopes', what, 'sign-in')
    }
    const audience = audiences.length === 1 ? name : audiences
    scopes.set(scope, { ...present, audience, ...(all.length > 0 && { claims: all }) })
  }
  const [first] = named
  if (secrets.length > 0 && first !== undefined) {
    const [scope] = first
    const present = scopes.get(scope)
    const before = Array.isArray(present?.secrets) ? present.secrets : []
    scopes.set(scope, { ...present, secrets: [...before, ...secrets] })
    reader.changed('ApiSecrets', `the API calls introspection as ${scope} now, and with its present secret`, 'sign-in')
  }
}
