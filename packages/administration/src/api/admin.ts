import {
  addressGroupOf,
  type Call,
  configurationObject,
  defineEndpoint,
  defineFields,
  definePlugin,
  type EndpointKit,
  type EndpointRequest,
  type Kit,
  type Plugin,
  parseConfiguration,
  type Reply,
  sealing,
} from '@grantry/core'
import * as v from 'valibot'
import { kinds } from '../kinds/kinds.ts'
import {
  adminScope,
  assertAdministrator,
  assertNoTokenInUrl,
  assertNotAdministrator,
  assertScope,
  nameOf,
  readScope,
} from './administrator.ts'
import { authorizationOperations } from './authorizations.ts'
import { assertKnown, createMatch, parametersOf } from './check-request.ts'
import { consentOperations } from './consents.ts'
import { entryOperations } from './entry-operations.ts'
import type { AdminHost } from './host.ts'
import { once } from './idempotency.ts'
import { invitationOperations } from './invitations.ts'
import { keyOperations } from './key-operations.ts'
import { knownUserOperations } from './known-users.ts'
import { describeApi } from './openapi.ts'
import type { Operation, OperationCall } from './operation.ts'
import { overviewOperations } from './overview.ts'
import { problemOf } from './refusals.ts'
import { sessionOperations } from './sessions.ts'
import { userOperations } from './user-operations.ts'

/** Seconds. */
const window = 60

/** Callers that a process remembers. A flood from more addresses removes the oldest ones. */
const maxCallers = 10_000

type LimitKit = Pick<Kit, 'now' | 'refuse'>

/**
 * Limits the requests of each caller in this process: a defective program must not block the storage for sign-ins.
 *
 * @throws OAuthError `slow_down` (429)
 */
function createCallLimit(requestsPerMinute: number) {
  const counts = new Map<string, { readonly start: number; calls: number }>()
  return (caller: string, { now, refuse }: LimitKit): void => {
    const time = now()
    const start = time - (time % window)
    const known = counts.get(caller)
    const count = known?.start === start ? known : { start, calls: 0 }
    // The newest is the last one.
    counts.delete(caller)
    counts.set(caller, count)
    if (counts.size > maxCallers) counts.delete(counts.keys().next().value ?? '')
    count.calls += 1
    if (count.calls <= requestsPerMinute) return
    throw refuse('slow_down', 'Too many requests, try again later', 'too_many_requests', {
      status: 429,
      retryAfter: start + window - time,
    })
  }
}

/**
 * Limits the requests of each client address, whatever their credentials. An unknown address has no limit: with one for all
 * callers together, a stranger could lock the administrators out.
 */
function createAddressLimit(requestsPerMinute: number) {
  const limit = createCallLimit(requestsPerMinute)
  return (clientAddress: string | undefined, kit: LimitKit): void => {
    if (clientAddress !== undefined) limit(addressGroupOf(clientAddress), kit)
  }
}

/** Ranges of media types that include JSON. */
const fitting: ReadonlySet<string> = new Set(['*/*', 'application/*', 'application/json', 'application/problem+json'])

const isRefused = (parameters: readonly string[]): boolean =>
  parameters.some((parameter) => /^\s*q=0(?:\.0{0,3})?\s*$/iu.test(parameter))

/**
 * @throws OAuthError 406, if the caller does not accept JSON
 * @see RFC 9110 section 12.5.1
 */
function assertAccepted({ header }: Pick<EndpointRequest, 'header'>, kit: Pick<Kit, 'refuse'>): void {
  const accept = header('accept')
  if (accept === null || accept.trim() === '') return
  const isAccepted = accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';')
    return fitting.has(type.trim().toLowerCase()) && !isRefused(parameters)
  })
  if (isAccepted) return
  throw kit.refuse('invalid_request', 'Responses are application/json', 'not_acceptable', { status: 406 })
}

declare module '@grantry/core' {
  interface PluginEndpoints {
    admin: true
  }
  interface OAuthErrorCodes {
    not_administrator: 403
  }
}

const ids = (what: string) =>
  v.array(
    v.pipe(v.string(`must be ${what}`), v.minLength(1, 'must not be empty'), v.maxLength(255, 'is too long')),
    `must be an array of ${what}`,
  )

const count = v.pipe(
  v.number('must be a number'),
  v.integer('must be a whole number'),
  v.minValue(1, 'must be at least 1'),
)

/** The schema of the options that a configuration can contain. */
export const adminSchema = configurationObject({
  /** The clients whose tokens are accepted. */
  clients: v.pipe(ids('client ids'), v.nonEmpty('must name at least one client')),
  /** The `sub` of each user who can administrate. */
  administrators: v.optional(ids('the subs of users'), []),
  /** Requests of each administrator in a minute, in each process. */
  requestsPerMinute: v.optional(count, 600),
  /** Requests of each client address in a minute, with and without a token, in each process. */
  requestsPerMinutePerAddress: v.optional(count, 1200),
})

export interface AdminOptions extends v.InferInput<typeof adminSchema> {
  /** Returns the host whose entries the API changes. Called once, with the first request. */
  readonly host: () => AdminHost
}

/**
 * The admin API at `/admin/v1`, for access tokens with the scope `admin`, or `admin:read` for GET, of the named clients and
 * administrators.
 *
 * @throws TypeError for a mistake in the options.
 */
export function admin({ host: open, ...options }: AdminOptions): Plugin {
  const { clients, administrators: subs, ...limits } = parseConfiguration(adminSchema, options, 'admin()')
  const administrators = { clients: new Set(clients), subs: new Set(subs) }
  const limitCalls = createCallLimit(limits.requestsPerMinute)
  const limitAddress = createAddressLimit(limits.requestsPerMinutePerAddress)
  const operations: readonly Operation[] = [
    ...overviewOperations((url, host) => describeApi(url, operations, host)),
    ...entryOperations(kinds.client),
    ...entryOperations(kinds.scope),
    ...userOperations,
    ...knownUserOperations,
    ...invitationOperations,
    ...sessionOperations,
    ...consentOperations,
    ...authorizationOperations,
    ...keyOperations,
    ...entryOperations(kinds.tenant),
  ]
  const match = createMatch(operations)
  let opened: AdminHost | undefined
  const host = (): AdminHost => {
    opened ??= open()
    return opened
  }

  async function run({ caller, params, request }: Call<unknown, 'token'>, kit: EndpointKit): Promise<Reply> {
    assertNoTokenInUrl(request, kit)
    assertAdministrator(caller, administrators, kit)
    const who = nameOf(caller)
    limitCalls(who, kit)
    const { operation, ids } = match(request.method, request.segments, kit)
    assertScope(caller, operation, kit)
    assertAccepted(request, kit)
    const parameters = parametersOf(operation, params, kit)
    assertNotAdministrator(ids, parameters, operation, administrators, kit)
    const { administration } = host()
    const by = { who, from: request.clientAddress }
    const managers = administration.as(by)
    const audited: OperationCall['audited'] = (change, make) => administration.audited(by, change, make)
    const full = { kit, host: host(), managers, audited, caller, request, ids, params: parameters }
    await assertKnown(operation, ids, full)
    return operation.repeatable ? once(full, () => operation.handle(full)) : operation.handle(full)
  }

  return definePlugin('admin', [
    sealing,
    defineFields({
      ownScopes: [{ name: adminScope }, { name: readScope }],
      errors: { not_administrator: 403 },
    }),
    defineEndpoint({
      name: 'admin',
      path: '/admin/v1',
      subpaths: true,
      methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      body: 'json',
      caller: 'token',
      scope: [adminScope, readScope],
      problems: true,
      params: v.any(),
      admit: ({ clientAddress }, kit) => limitAddress(clientAddress, kit),
      async handle(call, kit) {
        try {
          return await run(call, kit)
        } catch (thrown) {
          throw problemOf(thrown, kit)
        }
      },
    }),
  ])
}
