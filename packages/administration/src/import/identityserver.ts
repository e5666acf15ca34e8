import { foldedUsername, isJsonObject } from '@grantry/core'
import type { Members } from '../differences.ts'
import { idProblem, isStandardScope } from './client-draft.ts'
import { completed } from './completed.ts'
import { identityServerClient, isOfThird, knownOfClients, type Version } from './identityserver-client.ts'
import { addResource, memberOf, scopeOf } from './identityserver-scopes.ts'
import { type ExportedFile, type Finding, type ImportFunction, objectsIn } from './imported.ts'
import { createReader, type Known } from './reader.ts'

const lists = ['Clients', 'ApiScopes', 'ApiResources', 'IdentityResources'] as const
type Lists = Readonly<Record<(typeof lists)[number], readonly Members[]>>

const knownOfFiles: Known = (member) =>
  member.toLowerCase() === 'users' ? ['sign-in', 'users are not imported: configure users, or declare them'] : undefined

/** Returns the lists of a file, which is often one section of a larger one. */
function listsOf({ path, content }: ExportedFile, findings: Finding[]): Lists {
  const section = isJsonObject(content) ? (memberOf(content, 'IdentityServer') ?? content) : { Clients: content }
  const namedLists = isJsonObject(section)
    ? lists.map((name) => [name, objectsIn(memberOf(section, name))] as const)
    : []
  if (namedLists.every(([, list]) => list.length === 0))
    throw new TypeError(
      `${path}: must be a list of clients, or an object with Clients, ApiScopes, ApiResources or IdentityResources`,
    )
  const reader = createReader(section as Members, { entry: path, findings, anyCase: true, known: knownOfFiles })
  reader.ignore(lists)
  reader.end()
  return Object.fromEntries(namedLists) as unknown as Lists
}

/** Imports clients, scopes and resources of IdentityServer 3 and 4 and Duende IdentityServer, as JSON. */
export const importIdentityServer: ImportFunction = async (files) => {
  const findings: Finding[] = []
  const listsOfFiles = files.map((file) => listsOf(file, findings))
  const all = (name: keyof Lists): readonly Members[] => listsOfFiles.flatMap((each) => each[name])
  const scopes = new Map<string, Members>()
  for (const scope of all('ApiScopes').flatMap((each) => scopeOf(each, 'API scope', findings)))
    scopes.set(String(scope.name), scope)
  for (const scope of all('IdentityResources').flatMap((each) => scopeOf(each, 'identity resource', findings)))
    scopes.set(String(scope.name), scope)
  const resources = all('ApiResources')
  const isOff = (resource: Members): boolean => memberOf(resource, 'Enabled') === false
  // The disabled resources last: their scopes can be those of others.
  for (const resource of [...resources.filter((each) => !isOff(each)), ...resources.filter(isOff)])
    addResource(resource, scopes, findings)
  // Before version 4.0, scopes were parts of resources.
  const isOld = resources.some((resource) => objectsIn(memberOf(resource, 'Scopes')).length > 0)
  const clients = all('Clients').flatMap((exported) => {
    const clientId = String(memberOf(exported, 'ClientId') ?? '')
    const entry = `client ${clientId}`
    const reader = createReader(exported, { entry, findings, anyCase: true, known: knownOfClients })
    const problem = idProblem(clientId)
    const version: Version = isOld || isOfThird(exported) ? 'old' : 'new'
    if (problem === undefined) return [identityServerClient(clientId, reader, version)]
    reader.note(undefined, `was left out: ${problem}`, 'sign-in')
    return []
  })
  return completed(
    { clients, scopes: [...scopes.values()].filter(({ name }) => !isStandardScope(String(name))) },
    findings,
    foldedUsername,
  )
}
