import { isNamedPlugin, type NamedPlugin } from '../configuration/named-plugins.ts'
import type { CheckedConfiguration } from '../configuration/schema.ts'

/** The plugins that change entries: the admin API, and a sign-in whose users manage their accounts. */
const users: readonly NamedPlugin['name'][] = ['admin', 'sign-in']

/**
 * Loads the host of the admin API only if a plugin of the configuration uses it, because it loads the plugins whose
 * records it ends.
 */
export const loadAdminHost = async ({ plugins = [] }: Pick<CheckedConfiguration, 'plugins'>) =>
  plugins.some((entry) => isNamedPlugin(entry) && users.includes(entry.name)) ? import('./admin-host.ts') : undefined
