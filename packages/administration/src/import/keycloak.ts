import type { Members } from '../differences.ts'
import { missingScopes } from './client-draft.ts'
import { type ExportedFile, type Finding, type Imported, type ImportFunction, isObject, objectsIn } from './imported.ts'
import { keycloakClient } from './keycloak-client.ts'
import { keycloakScope } from './keycloak-scope.ts'
import { keycloakUser } from './keycloak-user.ts'
import { createReader } from './reader.ts'

/** Returns the realm of an export; of a directory, its files together. */
function realmOf(files: readonly ExportedFile[]): Members {
  const contents = files.flatMap(({ content }) =>
    Array.isArray(content) ? objectsIn(content) : isObject(content) ? [content] : [],
  )
  // `kc.sh export --dir` writes the users beside the realm.
  const realm = contents.find((content) => Array.isArray(content.clients))
  const users = contents.flatMap((content) => objectsIn(content.users))
  if (realm !== undefined) return { ...realm, ...(users.length > 0 && { users }) }
  const [{ path = 'the export' } = {}] = files
  throw new TypeError(`${path}: must be an export of a realm: an object with clients`)
}

/** What the realm itself has: reported, without the settings that every export has. */
function readRealm(realm: Members, findings: Finding[]): { readonly lifetime: number | undefined } {
  const reader = createReader(realm, { entry: `realm ${String(realm.realm ?? '')}`, findings })
  const lifetime = reader.number('accessTokenLifespan')
  reader.ignore([
    'clients',
    'clientScopes',
    'users',
    'id',
    'realm',
    'displayName',
    'displayNameHtml',
    'keycloakVersion',
  ])
  reader.ignore(['defaultDefaultClientScopes', 'defaultOptionalClientScopes', 'defaultRole', 'defaultRoles'])
  // They count for clients and users, who have their names.
  reader.ignore(['roles'])
  reader.ignore(['enabled'], true)
  reader.end()
  return { lifetime }
}

/** Imports a realm of Keycloak: the JSON of `kc.sh export`, or of the console. */
export const importKeycloak: ImportFunction = async (files, ports): Promise<Imported> => {
  const findings: Finding[] = []
  const realm = realmOf(files)
  const { lifetime } = readRealm(realm, findings)
  const realmName = String(realm.realm ?? '')
  const scopes = objectsIn(realm.clientScopes).flatMap((scope) => keycloakScope(scope, findings))
  const clients = objectsIn(realm.clients).flatMap((client) =>
    keycloakClient(client, { realm: realmName, lifetime, findings }),
  )
  const users: Members[] = []
  for (const user of objectsIn(realm.users)) users.push(...(await keycloakUser(user, findings, ports)))
  return { scopes: [...scopes, ...missingScopes(clients, scopes)], clients, users, findings }
}
