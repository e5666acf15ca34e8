import type { Members } from '../differences.ts'
import { idProblem, isStandardScope, missingScopes } from './client-draft.ts'
import { identityServerClient } from './identityserver-client.ts'
import { hashesIn } from './identityserver-secrets.ts'
import { type ExportedFile, type Finding, type ImportFunction, isObject, objectsIn } from './imported.ts'
import { createReader, type Reader } from './reader.ts'

const lists = ['Clients', 'ApiScopes', 'ApiResources', 'IdentityResources'] as const
type Lists = Readonly<Record<(typeof lists)[number], readonly Members[]>>

/** Configuration of .NET has names in any case, and often one section of a larger file. */
const memberOf = (members: Members, name: string): unknown =>
  Object.entries(members).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1]

function listsOf({ path, content }: ExportedFile): Lists {
  const section = isObject(content) ? (memberOf(content, 'IdentityServer') ?? content) : { Clients: content }
  const found = isObject(section) ? lists.map((name) => [name, objectsIn(memberOf(section, name))] as const) : []
  if (found.every(([, list]) => list.length === 0))
    throw new TypeError(
      `${path}: must be a list of clients, or an object with Clients, ApiScopes, ApiResources or IdentityResources`,
    )
  return Object.fromEntries(found) as unknown as Lists
}

/** Members of scopes and resources that only texts on pages need. */
const described = ['DisplayName', 'Description', 'ShowInDiscoveryDocument', 'Emphasize', 'Required', 'NonEditable']

function scopeOf(exported: Members, kind: 'API scope' | 'identity resource', findings: Finding[]): readonly Members[] {
  const name = String(memberOf(exported, 'Name') ?? '')
  const reader = createReader(exported, { entry: `${kind} ${name}`, findings, anyCase: true })
  if (idProblem(name) !== undefined || isStandardScope(name)) {
    if (!isStandardScope(name)) reader.note(undefined, `was left out: ${idProblem(name)}`)
    return []
  }
  const enabled = reader.flag('Enabled')
  const claims = reader.texts('UserClaims')
  reader.ignore(['Name', 'Id', 'Created', 'Updated', 'LastAccessed', ...described])
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

/** Adds an API to its scopes: its name is their audience. */
function addResource(exported: Members, scopes: Map<string, Members>, findings: Finding[]): void {
  const name = String(memberOf(exported, 'Name') ?? '')
  const reader: Reader = createReader(exported, { entry: `API resource ${name}`, findings, anyCase: true })
  const own = reader.take('Scopes')
  // Of IdentityServer 3 and 4 before version 4, scopes are objects.
  const names = Array.isArray(own)
    ? own.map((scope) => String(isObject(scope) ? memberOf(scope, 'Name') : scope))
    : [name]
  const secrets = hashesIn(reader.take('ApiSecrets'), 'ApiSecrets', reader)
  const claims = reader.texts('UserClaims')
  for (const scope of names) {
    const present = scopes.get(scope) ?? { name: scope }
    const all = [...new Set([...((present.claims as readonly string[] | undefined) ?? []), ...claims])]
    scopes.set(scope, { ...present, audience: name, ...(all.length > 0 && { claims: all }) })
  }
  const [first] = names
  if (secrets.length > 0 && first !== undefined) {
    scopes.set(first, { ...scopes.get(first), secrets })
    reader.note('ApiSecrets', `the API calls introspection as ${first} now, and with its present secret`)
  }
  reader.ignore(['Name', 'Id', 'Enabled', 'Created', 'Updated', 'LastAccessed', ...described])
  reader.ignore(['RequireResourceIndicator'], false)
  reader.end()
}

/** Imports clients, scopes and resources of IdentityServer 3 and 4 and Duende IdentityServer, as JSON. */
export const importIdentityServer: ImportFunction = async (files) => {
  const findings: Finding[] = []
  const found = files.map(listsOf)
  const all = (name: keyof Lists): readonly Members[] => found.flatMap((each) => each[name] ?? [])
  const scopes = new Map<string, Members>()
  for (const scope of all('ApiScopes').flatMap((each) => scopeOf(each, 'API scope', findings)))
    scopes.set(String(scope.name), scope)
  for (const scope of all('IdentityResources').flatMap((each) => scopeOf(each, 'identity resource', findings)))
    scopes.set(String(scope.name), scope)
  for (const resource of all('ApiResources')) addResource(resource, scopes, findings)
  const clients = all('Clients').flatMap((exported) => {
    const clientId = String(memberOf(exported, 'ClientId') ?? '')
    const reader = createReader(exported, { entry: `client ${clientId}`, findings, anyCase: true })
    const problem = idProblem(clientId)
    if (problem === undefined) return [identityServerClient(clientId, reader)]
    reader.note(undefined, `was left out: ${problem}`)
    return []
  })
  const declared = [...scopes.values()]
  return { scopes: [...declared, ...missingScopes(clients, declared)], clients, users: [], findings }
}
