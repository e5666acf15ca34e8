import {
  type ClientOptions,
  defineClientSource,
  defineFields,
  defineGrantCheck,
  defineHostFunctions,
  definePlugin,
  type Kit,
  type Plugin,
  parseConfiguration,
  type UnknownCaller,
} from '@grantry/core'
import * as v from 'valibot'
import { type ClientKeyMembers, clientKeyMembers } from '../shared/client-keys.ts'
import { clientMembers, clientMetadata } from '../shared/client-members.ts'
import { createAdmissions } from './admission.ts'
import { registrationEndpoint } from './endpoint.ts'
import { createRegistrations, registrations } from './host.ts'
import { createManagement } from './management.ts'
import { createDescribe } from './registration-metadata.ts'
import { type RegistrationOptions, registrationSchema } from './registration-options.ts'
import { type ClientRecords, createClientRecords, isRegisteredId } from './registration-records.ts'

declare module '@grantry/core' {
  interface ClientMembers extends ClientKeyMembers {}
  interface PluginEndpoints {
    registration: true
  }
  interface OAuthErrorCodes {
    invalid_redirect_uri: 400
    invalid_client_metadata: 400
    invalid_software_statement: 400
    unapproved_software_statement: 400
  }
}

export { type RegisteredClient, type Registrations, registrations } from './host.ts'
export type { IssuedInitialToken } from './initial-tokens.ts'
export { type RegistrationOptions, registrationSchema } from './registration-options.ts'

const errors = {
  invalid_redirect_uri: 400,
  invalid_client_metadata: 400,
  invalid_software_statement: 400,
  unapproved_software_statement: 400,
} as const

async function find(
  records: ClientRecords,
  clientId: string,
  kit: Kit,
  caller: UnknownCaller | undefined,
): Promise<ClientOptions | undefined> {
  const record = await records.get(clientId, kit)
  if (record !== undefined) return records.clientOf(clientId, record, kit)
  // A stored grant or token of a client that has ended is refused like that of any other.
  if (caller === undefined) return undefined
  // A page shows this text to a user whose application has kept the registration.
  const text = 'The registration of the client has ended; let the application connect again, without what it has stored'
  throw kit.refuse('invalid_client', text, 'client_ended')
}

/**
 * Clients that register themselves. Without `open` and `softwareStatements`, only the holders of initial access tokens can
 * register clients: `provider.use(registrations).issueToken()`.
 *
 * @throws TypeError with one sentence for a mistake in the options.
 * @see RFC 7591; RFC 7592; OpenID Connect Dynamic Client Registration 1.0
 */
export function registration(options: RegistrationOptions): Plugin {
  const settings = parseConfiguration(registrationSchema, options, 'registration()')
  if (settings.maxPerAddress !== undefined && settings.maxPerAddress > settings.maxTotal) {
    throw new TypeError('registration(): maxPerAddress must not be greater than maxTotal, which would always end first')
  }
  const fields = defineFields({
    client: { ...clientMembers, ...clientKeyMembers(settings.allowPrivateAddresses) },
    clientMetadata,
    errors,
  })
  const describe = createDescribe(settings)
  const records = createClientRecords(settings, describe)
  const admissions = createAdmissions(settings)
  const management = createManagement({ settings, describe, records, admissions })
  return definePlugin('registration', [
    fields,
    registrationEndpoint({ settings, describe, records, admissions, management }),
    defineHostFunctions(registrations, (kit) => createRegistrations(records, kit)),
    defineClientSource({
      matches: isRegisteredId,
      find: (clientId, kit, caller) => find(records, clientId, kit, caller),
      isOriginAllowed: (origin, kit) => records.isOriginAllowed(origin, kit),
    }),
    // Each token is a use of the client.
    defineGrantCheck({
      grantTypes: 'all',
      params: v.object({}),
      async check({ client: { clientId } }, kit) {
        if (isRegisteredId(clientId)) await records.use(clientId, kit)
        return undefined
      },
    }),
  ])
}
