import * as v from 'valibot'
import { configurationObject, functionSchema, parseConfiguration } from '../config-schema.ts'
import type { Client } from '../directory/client.ts'
import type { ClientDirectory } from '../directory/client-directory.ts'
import type { Subject, UserCredentials, UserService } from '../directory/user-service.ts'
import { OAuthError } from '../errors/oauth-error.ts'
import type { Recorder, Trace } from '../events/recorder.ts'
import type { AuthenticateUser, LoginContext, ProvedEpochOf } from '../parts/authenticate-user.ts'
import type { PasswordCheck } from './password-check.ts'
import type { UserNames } from './user-names.ts'
import type { EpochOf } from './user-state.ts'

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
      readState: functionSchema<NonNullable<LoginContext['readState']>>(),
      needsSecondFactor: functionSchema<NonNullable<LoginContext['needsSecondFactor']>>(),
    },
    'must be an object',
  )
  return { credentials, context }
}

/** The same limits in characters as for the parameters of the password grant. */
const maxUsernameLength = 256
const maxPasswordLength = 1024

type Steps = Pick<LoginContext, 'readState' | 'needsSecondFactor'>

const latest = (left: number | undefined, right: number | undefined): number | undefined =>
  left === undefined || right === undefined ? (left ?? right) : Math.max(left, right)

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
  readonly epochOf: EpochOf
}): { readonly authenticateUser: AuthenticateUser; readonly provedEpochOf: ProvedEpochOf } {
  const { users, clients, checkPassword, names, recorder, epochOf } = deps
  const proved = new WeakMap<Subject, string | null>()
  const schemas = createSchemas()

  async function clientOf(clientId: string | undefined, known: Client | undefined): Promise<Client | undefined> {
    if (clientId === undefined) return undefined
    const client = await clients.find(clientId, known)
    if (client?.enabled) return client
    throw new OAuthError('unauthorized_client', 'The client is not known', { reason: 'client_unknown' })
  }

  /** Checks the password, and remembers the epoch that was current before the check. */
  async function check(credentials: UserCredentials, client: Client | undefined, trace: Trace, steps: Steps) {
    let epoch: string | null | undefined
    const subject = await checkPassword(credentials, client, trace, {
      ...steps,
      async readState(sub) {
        epoch = undefined
        const [current, changedAt] = await Promise.all([epochOf(sub), steps.readState?.(sub)])
        epoch = current.epoch ?? null
        return latest(current.since, changedAt)
      },
    })
    if (subject !== undefined && epoch !== undefined) proved.set(subject, epoch)
    return subject
  }

  const authenticateUser: AuthenticateUser = async (input, context = {}) => {
    if (users.authenticate === undefined) throw new TypeError('authenticateUser() requires authenticate()')
    const credentials = parseConfiguration(schemas.credentials, input, 'authenticateUser()')
    const {
      clientAddress,
      client: known,
      clientId = known?.clientId,
      ...steps
    } = parseConfiguration(schemas.context, context, 'authenticateUser() context')
    const client = await clientOf(clientId, known)
    const trace = recorder.start('authenticateUser', { clientAddress }, context.traceContext)
    trace.client = client
    if (isPossible(credentials)) return check(credentials, client, trace, steps)
    const name = names.describe(credentials.username.slice(0, maxUsernameLength))
    recorder.record(trace, { type: 'user_authentication_failed', ...name, reason: 'credentials_impossible' })
    return undefined
  }

  return { authenticateUser, provedEpochOf: (subject) => proved.get(subject) }
}
