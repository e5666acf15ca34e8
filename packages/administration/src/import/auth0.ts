import { foldedUsername, isJsonObject } from '@grantry/core'
import type { Members } from '../differences.ts'
import { auth0Client } from './auth0-client.ts'
import { auth0Users } from './auth0-users.ts'
import { idProblem } from './client-draft.ts'
import { completed } from './completed.ts'
import { type ExportedFile, type Finding, type ImportFunction, objectsIn } from './imported.ts'
import { createReader } from './reader.ts'
import { withSignInNames } from './sign-in-names.ts'

/** The lists of an export, by the folder of a directory and the member of a file. */
const lists = {
  clients: 'clients',
  'resource-servers': 'resourceServers',
  grants: 'clientGrants',
  users: 'users',
} as const
type List = (typeof lists)[keyof typeof lists]

const folderOf = (path: string): string => path.split('/').at(-2) ?? ''

function entriesOf(files: readonly ExportedFile[], findings: Finding[]): ReadonlyMap<List, readonly Members[]> {
  const byList = new Map<List, Members[]>(Object.values(lists).map((list) => [list, []]))
  for (const { path, content } of files) {
    const list = Object.entries(lists).find(([folder]) => folder === folderOf(path))?.[1]
    const members = isJsonObject(content) ? content : {}
    const sections = Object.values(lists).filter((name) => Array.isArray(members[name]))
    if (list !== undefined) byList.get(list)?.push(...(Array.isArray(content) ? objectsIn(content) : [members]))
    else if (sections.length > 0) {
      const reader = createReader(members, { entry: path, findings })
      for (const name of sections) byList.get(name)?.push(...objectsIn(reader.take(name)))
      reader.end()
    } else createReader({}, { entry: path, findings }).note(undefined, 'has no counterpart')
  }
  if ([...byList.values()].every((list) => list.length === 0)) {
    const [{ path = 'the export' } = {}] = files
    throw new TypeError(`${path}: must be a directory of a0deploy export --format=directory, or an object with clients`)
  }
  return byList
}

/** Reads an API: each of its scopes has it as its audience. */
function scopesOf(exported: Members, findings: Finding[]): readonly Members[] {
  const identifier = String(exported.identifier ?? '')
  const reader = createReader(exported, { entry: `resource server ${identifier}`, findings })
  const scopes = objectsIn(reader.take('scopes')).flatMap(({ value }) => {
    const name = String(value ?? '')
    const problem = idProblem(name)
    if (problem !== undefined) reader.note('scopes', `${name} was left out: ${problem}`, 'sign-in')
    return problem === undefined ? [{ name, audience: identifier }] : []
  })
  reader.ignore(['id', 'name', 'identifier', 'signing_alg', 'is_system', 'subject_type_authorization'])
  reader.ignore(
    ['allow_offline_access', 'skip_consent_for_verifiable_first_party_clients', 'enforce_policies'],
    false,
    true,
  )
  reader.ignore(['token_dialect'], 'access_token')
  reader.end()
  return scopes
}

/** Adds an API to a scope that another one has, too. */
function addAudience(scope: Members, present: Members, scopes: Map<string, Members>, findings: Finding[]): void {
  const audiences = [...new Set([present.audience, scope.audience].flat())]
  const reader = createReader({}, { entry: `resource server ${String(scope.audience)}`, findings })
  if (audiences.length > 1) {
    const what = `${String(scope.name)} is a scope of ${audiences.join(' and ')}: requests have to name one of them in resource, and the configuration needs the plugin resource-indicators`
    reader.changed('scopes', what, 'sign-in')
  }
  scopes.set(String(scope.name), { ...present, audience: audiences.length === 1 ? audiences[0] : audiences })
}

/** The scopes of clients without a user, by the client. */
function grantedScopes(grants: readonly Members[]): ReadonlyMap<string, readonly string[]> {
  const granted = new Map<string, readonly string[]>()
  for (const { client_id: id, scope } of grants) {
    const names = Array.isArray(scope) ? scope.map(String) : []
    granted.set(String(id), [...(granted.get(String(id)) ?? []), ...names])
  }
  return granted
}

/** Imports clients, APIs and users of Auth0: an export of the Deploy CLI with `--format=directory`, or JSON. */
export const importAuth0: ImportFunction = async (files, ports) => {
  const findings: Finding[] = []
  const entries = entriesOf(files, findings)
  const all = (list: List): readonly Members[] => entries.get(list) ?? []
  const scopes = new Map<string, Members>()
  for (const scope of all('resourceServers').flatMap((server) => scopesOf(server, findings))) {
    const present = scopes.get(scope.name as string)
    if (present === undefined) scopes.set(scope.name as string, scope)
    else addAudience(scope, present, scopes, findings)
  }
  const granted = grantedScopes(all('clientGrants'))
  const clients = all('clients').flatMap((client) => auth0Client(client, granted, findings))
  const users = withSignInNames(auth0Users(all('users'), findings, ports), ports.names, findings)
  return completed({ scopes: [...scopes.values()], clients, users }, findings, foldedUsername)
}
