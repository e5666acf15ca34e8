import { type Call, defineEndpoint, type EndpointKit, type JsonObject, type Reply } from '@grantry/core'
import * as v from 'valibot'
import type { Admissions } from './admission.ts'
import { clientInformation, describedOrRefused, firstSecret } from './information.ts'
import type { Management } from './management.ts'
import type { Describe } from './registration-metadata.ts'
import type { Settings } from './registration-options.ts'
import type { ClientRecords } from './registration-records.ts'

interface EndpointParts {
  readonly settings: Settings
  readonly describe: Describe
  readonly records: ClientRecords
  readonly admissions: Admissions
  readonly management: Management
}

type RegistrationCall = Call<JsonObject, 'anyone'>

function createRegister({ settings, describe, records, admissions }: EndpointParts) {
  return async ({ params, bearer, request: { clientAddress } }: RegistrationCall, kit: EndpointKit): Promise<Reply> => {
    const { by, metadata, take } = await admissions.admit({ metadata: params, bearer, clientAddress }, kit)
    const described = describedOrRefused(describe, metadata, kit)
    await take()
    const { secret, secrets } = firstSecret(described, settings, kit)
    const token = kit.randomId()
    const record = {
      metadata: described.registered,
      issuedAt: kit.now(),
      by,
      secrets: [...secrets],
      token: { hash: kit.sha256(token) },
    }
    const clientId = await records.add(record, kit)
    kit.recordClient({ type: 'client_registered', clientId, by }, { clientAddress })
    return { status: 201, json: clientInformation(clientId, record, { token, secret }, kit) }
  }
}

/** The path at which clients register, with those of their registrations below it. */
export function registrationEndpoint(parts: EndpointParts) {
  const register = createRegister(parts)
  const { management } = parts
  return defineEndpoint({
    name: 'registration',
    path: '/connect/register',
    metadataName: 'registration_endpoint',
    subpaths: true,
    methods: ['GET', 'POST', 'PUT', 'DELETE'],
    body: 'json',
    caller: 'anyone',
    readsBearer: true,
    guessable: true,
    cors: 'public',
    params: v.any() as v.GenericSchema<JsonObject>,
    handle(call, kit) {
      const { method, segments } = call.request
      const [clientId, ...more] = segments
      const allow = clientId === undefined ? 'POST' : 'GET, PUT, DELETE'
      if (more.length > 0) throw kit.refuse('invalid_request', 'There is nothing here', 'path_unknown', { status: 404 })
      if (!allow.split(', ').includes(method.replace('HEAD', 'GET'))) {
        throw kit.refuse('invalid_request', `The method must be ${allow}`, 'method_not_allowed', { status: 405, allow })
      }
      return clientId === undefined ? register(call, kit) : management.handle(clientId, call, kit)
    },
  })
}
