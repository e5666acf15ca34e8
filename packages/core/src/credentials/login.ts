import * as v from 'valibot'
import { configurationObject, functionSchema, parseConfiguration } from '../config-schema.ts'
import type { Client } from '../directory/client.ts'
import type { ClientDirectory } from '../directory/clients.ts'
import type { UserCredentials, UserService } from '../directory/user-service.ts'
import { OAuthError } from '../errors/oauth-error.ts'
import type { Recorder } from '../events/recorder.ts'
import type { AuthenticateUser, LoginContext } from '../parts/authenticate-user.ts'
import type { PasswordCheck } from './password-check.ts'
import type { UserNames } from './user-names.ts'

/** Created on demand, so that a bundler can drop them. */
function createSchemas() {
  const text = v.string('must be a string')
  const credentials = configurationObject({
    username: text,
    password: text,
    idp: v.optional(text),
    tenant: v.optional(text),
    acrValues: v.optional(v.pipe(v.array(text, 'must be an array of strings'), v.readonly())),
  })
  const context = v.object(
    {
      clientAddress: v.optional(text),
      clientId: v.optional(text),
      client: v.optional(v.custom<Client>((value) => typeof value === 'object' && value !== null, 'must be a client')),
      onFound: functionSchema<NonNullable<LoginContext['onFound']>>(),
      needsSecondFactor: functionSchema<NonNullable<LoginContext['needsSecondFactor']>>(),
    },
    'must be an object',
  )
  return { credentials, context }
}

/** The same limits in characters as for the parameters of the password grant. */
const maxUsernameLength = 256
const maxPasswordLength = 1024

const isPossible = ({ username, password }: UserCredentials): boolean =>
  username.trim() !== '' &&
  username.length <= maxUsernameLength &&
  password.trim() !== '' &&
  password.length <= maxPasswordLength

export function createAuthenticateUser(deps: {
  readonly users: UserService
  readonly clients: ClientDirectory
  readonly checkPassword: PasswordCheck
  readonly names: UserNames
  readonly recorder: Recorder
}): AuthenticateUser {
  const { users, clients, checkPassword, names, recorder } = deps
  const schemas = createSchemas()

  async function clientOf(clientId: string | undefined, found: Client | undefined): Promise<Client | undefined> {
    if (clientId === undefined) return undefined
    const client = await clients.find(clientId, found)
    if (client?.enabled) return client
    throw new OAuthError('unauthorized_client', 'The client is not known', { reason: 'client_unknown' })
  }

  return async (input, context) => {
    if (users.authenticate === undefined) throw new TypeError('authenticateUser() requires authenticate()')
    const credentials = parseConfiguration(schemas.credentials, input, 'authenticateUser()')
    const {
      clientAddress,
      client: found,
      clientId = found?.clientId,
      ...steps
    } = parseConfiguration(schemas.context, context, 'authenticateUser() context')
    const client = await clientOf(clientId, found)
    const trace = recorder.start('authenticateUser', { clientAddress }, context.traceContext)
    trace.client = client
    if (isPossible(credentials)) return checkPassword(credentials, client, trace, steps)
    const name = names.describe(credentials.username.slice(0, maxUsernameLength))
    recorder.record(trace, { type: 'user_authentication_failed', ...name, reason: 'credentials_impossible' })
    return undefined
  }
}
