import { isLocalhostUrl } from '@grantry/core'
import type { CheckedConfiguration } from '../configuration/schema.ts'
import { isTable, isUserList } from '../configuration/users-schema.ts'

const hasAccounts = (entry: unknown): boolean =>
  typeof entry === 'object' &&
  entry !== null &&
  !('kind' in entry) &&
  (entry as { accounts?: unknown }).accounts !== undefined

/** Whether users of a configuration manage their accounts themselves. */
export const usesAccounts = ({ plugins = [] }: Pick<CheckedConfiguration, 'plugins'>): boolean =>
  plugins.some(hasAccounts)

/** @throws TypeError when the configuration lacks settings that accounts need. */
export function assertAccounts({ plugins = [], users, administration, mail, issuer }: CheckedConfiguration): void {
  const index = plugins.findIndex(hasAccounts)
  if (index === -1) return
  const path = `plugins[${index}].accounts`
  const isInTable = isTable(users)
  if (!isUserList(users) && !isInTable) {
    throw new TypeError(
      `${path}: users come from a user service or a directory, which this server does not change; in a module configuration, pass selfService() a store for it`,
    )
  }
  if (!administration && !isInTable)
    throw new TypeError(`${path}: accounts are in the storage; set "administration": true`)
  if (mail !== undefined || isLocalhostUrl(issuer)) return
  throw new TypeError(
    `${path}: accounts send mails; set mail.url and mail.from, such as "smtps://user:password@mail.example.com" and "id@example.com"`,
  )
}
