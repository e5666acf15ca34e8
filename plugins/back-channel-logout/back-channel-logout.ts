import {
  type Client,
  configurationObject,
  defineFields,
  defineTask,
  type EndpointKit,
  type MembersOf,
  member,
  type OptionsOf,
  parseConfiguration,
} from '@grantry/core'
import * as v from 'valibot'
import type { AuthorizationFeature } from '../authorization-endpoint/authorization-endpoint.ts'
import { functionSchema, seconds } from '../shared/config-schema.ts'
import { fetchedUriProblem, type SendRequest } from '../shared/fetched-uri.ts'
import { createGuardedFetch } from '../shared/guarded-fetch.ts'
import { createLogoutQueue, type Logout, type SendLogout } from './queue.ts'
import { recipients } from './recipients.ts'

declare module '@grantry/core' {
  interface ClientMembers extends MembersOf<ReturnType<typeof clientMembersFor>> {}
}

/** Sends a logout token. Must not follow redirects. */
export type SendLogoutToken = SendRequest

export const backChannelLogoutSchema = configurationObject({
  /** Seconds for which a client can take to respond. Default: 5. */
  timeout: v.optional(seconds(0.1, 30), 5),
  /** Seconds for which a user who signs out waits for the clients. Default: 1. */
  maxWait: v.optional(seconds(0, 10), 1),
  /**
   * Allows addresses of the local network in `backchannelLogoutUri`, and `http` on this machine. Clients that register or
   * describe themselves then get no logout tokens. Default: `false`.
   */
  allowPrivateAddresses: v.optional(v.boolean('must be true or false'), false),
  /** Replaces the requests, for example to send them through a proxy. The addresses of hosts are then not checked. */
  fetch: functionSchema<SendLogoutToken>(),
})

export type BackChannelLogoutOptions = OptionsOf<typeof backChannelLogoutSchema>
type Settings = v.InferOutput<typeof backChannelLogoutSchema>

/** The names in metadata of clients that describe themselves. */
const metadataNames = {
  backchannel_logout_uri: 'backchannelLogoutUri',
  backchannel_logout_session_required: 'backchannelLogoutSessionRequired',
}

const uriProblem = (uri: string, { allowPrivateAddresses }: Pick<Settings, 'allowPrivateAddresses'>) =>
  fetchedUriProblem(uri, { allowPrivateAddresses, allowLoopbackHttp: true })

const uriSchema = (settings: Settings) =>
  v.pipe(
    v.string('must be a URL'),
    v.rawCheck(({ dataset, addIssue }) => {
      const message = dataset.typed ? uriProblem(dataset.value, settings) : undefined
      if (message !== undefined) addIssue({ message })
    }),
  )

const clientMembersFor = (settings: Settings) => ({
  /** Where the client receives logout tokens: an `https` URL of a public host. */
  backchannelLogoutUri: member(v.optional(uriSchema(settings)), {
    title: 'Address for sign-outs',
    text: 'This server informs it when a session of a user ends.',
    group: 'addresses',
  }),
  /** Whether the client needs the `sid` of the session. Its tokens have it in any case. */
  backchannelLogoutSessionRequired: member(v.optional(v.boolean('must be true or false')), {
    title: 'Name the session',
    text: 'Whether a message about a sign-out must name the session.',
    group: 'sign-in',
  }),
})

/** Seconds. OpenID Connect Back-Channel Logout 1.0 section 4: at most two minutes. */
const tokenLifetime = 120

/** @see OpenID Connect Back-Channel Logout 1.0 section 2.4 */
const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }

/** @see OpenID Connect Back-Channel Logout 1.0 section 2.4 */
const logoutTokenFor = (client: Client, { sub, sid }: Logout, kit: EndpointKit): Promise<string> =>
  kit.sign(
    'logout+jwt',
    {
      aud: client.clientId,
      exp: kit.now() + tokenLifetime,
      jti: kit.randomId(),
      events,
      sub,
      sid,
    },
    client,
  )

/** @see OpenID Connect Back-Channel Logout 1.0 sections 2.5 and 2.8 */
function createSend(settings: Settings): SendLogout {
  const { timeout, allowPrivateAddresses, fetch: send } = settings
  const fetchGuarded = createGuardedFetch({ allowPrivateAddresses, allowLoopbackHttp: true, send })

  /** Whether the client has confirmed the logout, or no longer receives logout tokens. */
  async function notify(clientId: string, logout: Logout, kit: EndpointKit): Promise<boolean> {
    try {
      const client = await kit.findClient(clientId)
      const uri = client?.backchannelLogoutUri
      if (client === undefined || uri === undefined) return true
      const fetched = await fetchGuarded(uri, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ logout_token: await logoutTokenFor(client, logout, kit) }).toString(),
        timeout,
        // The content does not matter, whatever its size.
        maxSize: 0,
        now: kit.now(),
      })
      return fetched.problem === undefined && (fetched.status === 200 || fetched.status === 204)
    } catch {
      // The storage fails: there is another attempt, as for a client that is unreachable or too slow.
      return false
    }
  }

  return async (kit, logout) => {
    const results = await Promise.all(
      logout.clientIds.map(async (clientId) => ({ clientId, isDone: await notify(clientId, logout, kit) })),
    )
    return results.flatMap(({ clientId, isDone }) => (isDone ? [] : [clientId]))
  }
}

/** Waits for a promise that never rejects, at most this many seconds. */
async function waitFor(pending: Promise<void>, limit: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limit * 1000)
  })
  await Promise.race([pending, late])
  clearTimeout(timer)
}

/**
 * Informs the clients of a session when the session ends. Pass it to `authorizationEndpoint({ features })`. Clients
 * with `backchannelLogoutUri` receive a logout token, again and again for up to 36 minutes until they confirm it.
 *
 * The attempts after the first one need `provider.runTasks()`.
 *
 * @throws TypeError when an option is malformed.
 * @see OpenID Connect Back-Channel Logout 1.0
 */
export function backChannelLogout(options: BackChannelLogoutOptions = {}): AuthorizationFeature {
  const settings = parseConfiguration(backChannelLogoutSchema, options, 'backChannelLogout()')
  const queue = createLogoutQueue(createSend(settings), settings.timeout)
  const fields = defineFields({
    signs: { 'logout+jwt': { events } },
    client: clientMembersFor(settings),
    // Strangers can register clients, which must not name an address of the operator's own network.
    clientMetadata: settings.allowPrivateAddresses ? {} : metadataNames,
    metadata: { backchannel_logout_supported: true, backchannel_logout_session_supported: true },
  })
  const receives = ({ backchannelLogoutUri }: Client): boolean => backchannelLogoutUri !== undefined
  return {
    parts: () => [fields, defineTask((kit) => queue.sendDue(kit))],
    needsSid: receives,
    onAuthorized: (kit, session, client) => recipients.note(kit, session, client, receives(client)),
    onSessionRenewed: recipients.renew,
    async onSessionEnd(kit, { sid, subject }) {
      try {
        const clientIds = await recipients.end(kit, sid)
        if (clientIds.length === 0) return undefined
        const send = await queue.add(kit, { sub: subject.sub, sid, clientIds })
        return () => waitFor(send(), settings.maxWait)
      } catch (error) {
        // The session does not end, so its clients can get codes.
        await recipients.reopen(kit, sid)
        throw error
      }
    },
  }
}
