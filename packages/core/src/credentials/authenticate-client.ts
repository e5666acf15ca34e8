import type { CredentialAttempt, CredentialLimits } from '../abuse/credential-limits.ts'
import { createSecretCheck, type RefusalCheck } from '../directory/check-secret.ts'
import type { Client } from '../directory/client.ts'
import type { ClientDirectory } from '../directory/client-directory.ts'
import { isOAuthError, reasonOf } from '../errors/oauth-error.ts'
import type { Recorder, Trace } from '../events/recorder.ts'
import type { RequestParameters } from '../http/parameters.ts'
import type { ClientAuthentication, PresentedSecret } from '../parts/client-authentication.ts'
import type { AuthenticatedClient } from '../parts/grant.ts'
import type { Kit } from '../parts/kit.ts'
import type { OwnedPart } from '../parts/plugin.ts'
import { isThenable } from '../promises.ts'
import type { Runtime } from '../runtime.ts'
import {
  type Candidate,
  createPresent,
  invalidClient,
  isGuessable,
  isPossible,
  type Presentation,
  presentationFor,
  presentedId,
  reasonOfMethod,
} from './presented.ts'

/** The client, or the reason why it is not authenticated. The reason is for events only. */
type Verdict =
  | {
      readonly client: Client
      readonly method: string
      readonly reason?: undefined
      readonly detail?: undefined
      readonly credentials?: undefined
    }
  | {
      readonly client?: undefined
      readonly method?: undefined
      readonly reason: string
      readonly detail?: string | undefined
      /** Whether the failure counts as a guess: only `guess` does. `right`: the secret matches. */
      readonly credentials: 'guess' | 'right' | 'impossible'
    }

type Refused = Exclude<Verdict, { readonly client: Client }>

const refused = (reason: string, credentials: NonNullable<Verdict['credentials']> = 'guess'): Refused => ({
  reason,
  credentials,
})

/** Authenticates the calling client. Every failure is the same 401. */
export type AuthenticateClient = (
  request: Request,
  form: RequestParameters,
  trace: Trace,
  endpointUrls: readonly string[],
) => Promise<AuthenticatedClient>

/** The same 401 for every failure, also if a plugin has thrown an error with another description. */
const uniform = (thrown: unknown): unknown =>
  isOAuthError(thrown) && thrown.code === 'invalid_client'
    ? invalidClient(reasonOf(thrown), thrown.details.detail)
    : thrown

const maxDetailLength = 500

// Plugins are not trusted: `verify` could return anything.
function refusedBy(by: Candidate, outcome: { readonly reason?: unknown; readonly detail?: unknown } | undefined) {
  const { reason, detail } = outcome ?? {}
  const verdict = refused(reasonOfMethod(by, reason))
  return typeof detail === 'string' ? { ...verdict, detail: detail.slice(0, maxDetailLength) } : verdict
}

interface ClientAuthenticationDeps {
  readonly methods: readonly OwnedPart<ClientAuthentication>[]
  readonly kitOf: (plugin: string) => Kit
  readonly clients: ClientDirectory
  readonly limits: CredentialLimits
  readonly isRefused: RefusalCheck
  readonly runtime: Runtime
  readonly recorder: Recorder
}

function createRecordFailure({
  clients,
  runtime,
  recorder,
}: Pick<ClientAuthenticationDeps, 'clients' | 'runtime' | 'recorder'>) {
  return (error: unknown, presented: string | undefined, trace: Trace): void => {
    if (!recorder.observed) return
    const detail = isOAuthError(error) ? error.details.detail : undefined
    const fact = { type: 'client_authentication_failed', reason: reasonOf(error) } as const
    const id = presented === undefined ? undefined : presentedId(presented, clients.isKnown, runtime)
    recorder.record(trace, {
      ...fact,
      ...(detail !== undefined && { detail }),
      ...(id?.known !== undefined && { presentedClientId: id.known }),
      ...(id !== undefined && { presentedFingerprint: id.fingerprint }),
    })
  }
}

/** Creates the function that verifies the presented credentials of a client. */
function createVerify({ methods, clients, isRefused, runtime, recorder }: ClientAuthenticationDeps) {
  const matchesSecret = createSecretCheck(
    clients.all.map((client) => clients.secretsOf(client).stored),
    runtime,
  )
  const secretMethods = new Set(methods.flatMap(({ part }) => (part.verify === undefined ? [part.method] : [])))
  // Reported once per client object: guessing at a secret must not fill the log.
  const reported = new WeakSet<Client>()

  function reportMalformed(client: Client, trace: Trace): void {
    if (clients.secretsOf(client).malformed === 0 || reported.has(client)) return
    reported.add(client)
    recorder.record(trace, { type: 'secret_skipped', owner: `client ${client.clientId}` })
  }

  return async function verify(presentation: Presentation, trace: Trace, renewed?: Client): Promise<Verdict> {
    if (!isPossible(presentation.presented)) return refused('credentials_impossible', 'impossible')
    const { clientId } = presentation.presented
    const client = renewed ?? (await clients.find(clientId, undefined, trace))
    const { by, presented } = presentationFor(presentation, client)
    const { kit, method } = by
    if (method.verify === undefined) {
      if (client !== undefined) reportMalformed(client, trace)
      const { secret } = presented as PresentedSecret
      const refusing = isRefused(secret)
      // Before anything that could differ between clients, or that is slow.
      if (isThenable(refusing) ? await refusing : refusing) return refused('secret_refused')
      // A public client has no secret, so its id alone authenticates it. Its existence is no secret, unless it is
      // disabled. Nothing limits these requests, so they must not cost a slow hash of the host.
      const isKnownPublic = client?.public === true && client.enabled
      const verifySecret = isKnownPublic ? undefined : clients.secretVerifierOf(client)
      const matching =
        verifySecret === undefined
          ? matchesSecret(secret, client && clients.secretsOf(client).stored)
          : verifySecret(clientId, secret)
      const matches = isThenable(matching) ? await matching : matching
      if (client?.public) return refused('client_public', isKnownPublic ? 'impossible' : 'guess')
      if (client !== undefined && matches !== true) {
        // The secret can have been added since the source has read the client.
        const renewing = renewed === undefined ? clients.renewed?.(client) : undefined
        // Wrong secrets are counted before a right one that was sent at the same time is reported.
        const present = isThenable(renewing) ? await renewing : renewing
        return present === undefined ? refused('secret_mismatch') : verify(presentation, trace, present)
      }
    } else {
      const outcome = await method.verify(presented, client, kit)
      if (client !== undefined && outcome !== true) return refusedBy(by, outcome)
      if (client !== undefined && !method.accepts(client)) return refused('method_not_accepted')
    }
    if (client === undefined) return refused('client_unknown')
    const { tokenEndpointAuthMethod: only = method.method } = client
    if (only !== method.method) {
      // Some clients try the methods in turn, so the right secret is no guess if the client may present it by another
      // method. Otherwise, the response must not reveal that the secret is right.
      const mayKnow = client.enabled && secretMethods.has(only)
      return refused('method_not_allowed_for_client', mayKnow ? 'right' : 'guess')
    }
    return client.enabled ? { client, method: method.method } : refused('client_disabled')
  }
}

/** @see wire contract, section 2; the seed, section 5 */
export function createClientAuthentication(deps: ClientAuthenticationDeps): AuthenticateClient {
  const { methods, kitOf, limits, recorder } = deps
  const present = createPresent(methods, kitOf)
  const verify = createVerify(deps)
  const recordFailure = createRecordFailure(deps)

  return async (request, form, trace, endpointUrls) => {
    let presentedClientId = form.client_id
    // If `present` throws, no secret was compared, so the request was no guess.
    let isGuess = false
    let attempt: CredentialAttempt | undefined
    try {
      const { headers } = request
      const { clientAddress, clientCertificate } = trace
      const header = (name: string) => headers.get(name)
      const presentation = present(form, { header, clientAddress, clientCertificate, endpointUrls })
      const { by, presented } = presentation
      presentedClientId = presented.clientId
      isGuess = isGuessable(presentation)
      if (isGuess) attempt = limits.admit(presentedClientId, trace)
      let verdict = await verify(presentation, trace)
      if (verdict.client === undefined) {
        const first = verdict.credentials
        const alternative = by.method.alternative?.(presented as PresentedSecret)
        if (alternative !== undefined && isPossible(alternative)) {
          verdict = await verify({ by, presented: alternative }, trace)
        }
        const readings = [first, verdict.credentials]
        isGuess &&= readings.includes('guess') && !readings.includes('right')
      }
      const { client, method, reason, detail } = verdict
      // Also before a refusal that does not count, which reveals a right secret.
      attempt?.confirm(client !== undefined)
      // The response is the same for every reason.
      if (client === undefined) throw invalidClient(reason, detail)
      trace.client = client
      recorder.record(trace, { type: 'client_authentication_succeeded', method })
      return client as AuthenticatedClient
    } catch (thrown) {
      const failure = uniform(thrown)
      const error = attempt === undefined ? failure : await attempt.fail(failure, isGuess)
      recordFailure(error, presentedClientId, trace)
      throw error
    }
  }
}
