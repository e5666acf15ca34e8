import type { ClientOptions } from '@grantry/core'
import type { CheckedConfiguration } from './schema.ts'

const isList = (clients: CheckedConfiguration['clients']): clients is readonly ClientOptions[] => Array.isArray(clients)

/** Returns the clients of the configuration; none if a function of the host finds them. */
export const configuredClients = ({ clients }: Pick<CheckedConfiguration, 'clients'>): readonly ClientOptions[] =>
  isList(clients) ? clients : []
