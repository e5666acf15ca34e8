import { foldedUsername, isJsonObject } from '@grantry/core'
import type { Members } from '../differences.ts'
import { completed } from './completed.ts'
import { type ExportedFile, type Finding, type Imported, type ImportFunction, objectsIn } from './imported.ts'
import { keycloakClient } from './keycloak-client.ts'
import { readRealm } from './keycloak-realm.ts'
import { keycloakScope } from './keycloak-scope.ts'
import { keycloakUser } from './keycloak-user.ts'
import { withSignInNames } from './sign-in-names.ts'

/** Returns the realm of an export; of a directory, its files together. */
function realmOf(files: readonly ExportedFile[]): Members {
  const contents = files.flatMap(({ content }) =>
    Array.isArray(content) ? objectsIn(content) : isJsonObject(content) ? [content] : [],
  )
  // `kc.sh export --dir` writes the users beside the realm.
  const realm = contents.find((content) => Array.isArray(content.clients))
  const users = contents.flatMap((content) => objectsIn(content.users))
  if (realm !== undefined) return { ...realm, ...(users.length > 0 && { users }) }
  const [{ path = 'the export' } = {}] = files
  throw new TypeError(`${path}: must be an export of a realm: an object with clients`)
}

/** Imports a realm of Keycloak: the JSON of `kc.sh export`, or of the console. */
export const importKeycloak: ImportFunction = async (files, ports): Promise<Imported> => {
  const findings: Finding[] = []
  const realm = realmOf(files)
  const facts = readRealm(realm, findings)
  const scopes = objectsIn(realm.clientScopes).flatMap((scope) => keycloakScope(scope, findings))
  const clients = objectsIn(realm.clients).flatMap((client) => keycloakClient(client, facts))
  const users: Members[] = []
  for (const user of objectsIn(realm.users)) users.push(...(await keycloakUser(user, findings, ports)))
  const named = facts.isAddressName ? withSignInNames(users, ports.names, findings) : users
  return completed({ scopes, clients, users: named }, findings, foldedUsername)
}
