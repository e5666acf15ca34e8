import type { CredentialLimits } from '../abuse/credential-limits.ts'
import type { Client } from '../directory/client.ts'
import type { ClientDirectory } from '../directory/clients.ts'
import { reasonOf } from '../errors/oauth-error.ts'
import type { Recorder, Trace } from '../events/recorder.ts'
import type { RequestParameters } from '../http/parameters.ts'
import type { AuthenticatedClient } from '../plugin/grant.ts'
import type { Runtime } from '../runtime.ts'
import type { CredentialPair } from './basic.ts'
import {
  invalidClient,
  presentedId,
  presentedInForm,
  presentedInHeader,
  refuseSecondMethod,
  verifyPair,
} from './presented.ts'
import { createSecretCheck } from './secret.ts'

/** The client, or the reason why it is not authenticated. The reason is for events only. */
type Verdict =
  | { readonly client: Client; readonly reason?: undefined }
  | { readonly client?: undefined; readonly reason: string }

/** Authenticates the calling client. Every failure is the same 401. */
export type ClientAuthentication = (
  request: Request,
  form: RequestParameters,
  trace: Trace,
) => Promise<AuthenticatedClient>

/** @see wire contract, section 2; the seed, section 5 */
export function createClientAuthentication(deps: {
  readonly clients: ClientDirectory
  readonly limits: CredentialLimits
  readonly runtime: Runtime
  readonly recorder: Recorder
}): ClientAuthentication {
  const { clients, limits, runtime, recorder } = deps
  const matchesSecret = createSecretCheck(
    clients.all.map((client) => clients.secretsOf(client).stored),
    runtime,
  )
  // Reported once per client object: guessing at a secret must not fill the log.
  const reported = new WeakSet<Client>()

  function reportMalformed(client: Client, trace: Trace): void {
    if (clients.secretsOf(client).malformed === 0 || reported.has(client)) return
    reported.add(client)
    recorder.record(trace, { type: 'secret_skipped', owner: `client ${client.clientId}` })
  }

  function recordFailure(error: unknown, presented: string | undefined, trace: Trace): void {
    if (!recorder.observed) return
    const fact = { type: 'client_authentication_failed', reason: reasonOf(error) } as const
    const id = presented === undefined ? undefined : presentedId(presented, clients.isKnown, runtime)
    recorder.record(trace, {
      ...fact,
      ...(id?.known !== undefined && { presentedClientId: id.known }),
      ...(id !== undefined && { presentedFingerprint: id.fingerprint }),
    })
  }

  async function verify({ id, secret }: CredentialPair, trace: Trace): Promise<Verdict> {
    const client = await clients.find(id)
    if (client !== undefined) reportMalformed(client, trace)
    const matches =
      clients.verifySecret === undefined
        ? matchesSecret(secret, client && clients.secretsOf(client).stored)
        : await clients.verifySecret(id, secret)
    if (client === undefined) return { reason: 'client_unknown' }
    // A public client has no secret, so a pair cannot authenticate it, even if the host's `verifySecret` accepts the
    // pair.
    if (client.public) return { reason: 'client_public' }
    if (matches !== true) return { reason: 'secret_mismatch' }
    return client.enabled ? { client } : { reason: 'client_disabled' }
  }

  async function findPublic(id: string): Promise<Verdict> {
    const client = await clients.find(id)
    if (client === undefined) return { reason: 'client_unknown' }
    if (!client.public) return { reason: 'secret_missing' }
    return client.enabled ? { client } : { reason: 'client_disabled' }
  }

  return async (request, form, trace) => {
    const authorization = request.headers.get('authorization')
    let presentedClientId = form.client_id
    try {
      const presented = authorization === null ? presentedInForm(form) : presentedInHeader(authorization)
      refuseSecondMethod(presented, form)
      presentedClientId = presented.method === 'none' ? presented.id : presented.pair.id
      limits.assertBelow(presentedClientId, trace)
      const { client, reason } =
        presented.method === 'none'
          ? await findPublic(presented.id)
          : await verifyPair(presented, (pair) => verify(pair, trace))
      // The response is the same for every reason.
      if (client === undefined) throw invalidClient(reason)
      limits.assertBelow(presentedClientId, trace)
      trace.client = client
      recorder.record(trace, { type: 'client_authentication_succeeded', method: presented.method })
      return client as AuthenticatedClient
    } catch (thrown) {
      const error = await limits.countFailure(thrown, presentedClientId, trace)
      recordFailure(error, presentedClientId, trace)
      throw error
    }
  }
}
