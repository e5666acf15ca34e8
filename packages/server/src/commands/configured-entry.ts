import { type Kind, refusalOf, refused } from '@grantry/administration'
import { configuredClients } from '../configuration/configured-clients.ts'
import type { LoadedConfiguration } from '../configuration/load.ts'
import { isUserList } from '../configuration/users-schema.ts'

/** A list of the configuration whose entries can be in the storage instead. */
type ConfiguredList = Kind['list']

type Configuration = LoadedConfiguration['configuration']

/** Whether the configuration has an entry: a user by the `sub` or the name. */
const isConfigured: Readonly<Record<ConfiguredList, (configuration: Configuration, id: string) => boolean>> = {
  clients: (configuration, id) => configuredClients(configuration).some(({ clientId }) => clientId === id),
  scopes: ({ scopes }, id) => scopes.some(({ name }) => name === id),
  tenants: ({ tenants }, id) => tenants?.list.some(({ name }) => name === id) === true,
  users: ({ users }, id) => isUserList(users) && users.some(({ sub, username }) => sub === id || username === id),
}

/**
 * Runs an action on an entry in the storage.
 *
 * @throws RefusedError `not_found` that names the configuration, if the entry is there; else what the action throws
 */
export async function orConfigured<T>(
  list: ConfiguredList,
  id: string,
  { configuration, file }: LoadedConfiguration,
  act: () => Promise<T>,
): Promise<T> {
  try {
    return await act()
  } catch (thrown) {
    if (refusalOf(thrown)?.reason !== 'not_found' || !isConfigured[list](configuration, id)) throw thrown
    const message = `${file}: ${list} has ${id}, which is not in the storage; change it there`
    throw refused('not_found', message, { cause: thrown })
  }
}
