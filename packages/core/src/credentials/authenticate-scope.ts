import type { CredentialAttempt, CredentialLimits } from '../abuse/credential-limits.ts'
import { createSecretCheck, type RefusalCheck } from '../directory/check-secret.ts'
import type { Scope } from '../directory/scope.ts'
import { derivedFrom, type LiveScopes } from '../directory/scopes.ts'
import type { Recorder, Trace } from '../events/recorder.ts'
import type { RequestParameters } from '../http/parameters.ts'
import type { ClientAuthentication, PresentedSecret } from '../parts/client-authentication.ts'
import type { Kit } from '../parts/kit.ts'
import type { OwnedPart } from '../parts/plugin.ts'
import { after, allOf, isThenable } from '../promises.ts'
import type { Runtime } from '../runtime.ts'
import type { MaybePromise } from '../types.ts'
import { createPresent, invalidClient, isGuessable, isPossible, type Presentation, presentedId } from './presented.ts'

/** The scope, or the reason why it is not authenticated. The reason is for events only. */
type Verdict =
  | { readonly scope: Scope; readonly reason?: undefined }
  | { readonly scope?: undefined; readonly reason: string }

/** The credentials as presented and, if the method has one, their alternative reading. */
function readingsOf(method: ClientAuthentication, presented: PresentedSecret): readonly PresentedSecret[] {
  const alternative = method.alternative?.(presented) as PresentedSecret | undefined
  return alternative === undefined ? [presented] : [presented, alternative]
}

const isGuess = (presentation: Presentation): boolean =>
  isGuessable(presentation) &&
  readingsOf(presentation.by.method, presentation.presented as PresentedSecret).some(isPossible)

/** For an API, no method reads the URLs of the endpoint. */
const noUrls: readonly string[] = []

/** Authenticates the calling API by its scope name and secret. */
export type ScopeAuthentication = (
  request: Request,
  form: RequestParameters,
  trace: Trace,
) => Promise<AuthenticatedScope>

interface AuthenticatedScope {
  readonly scope: Scope
  readonly presentation: Presentation
  /**
   * Refuses the scope if another process has just removed its secret: checks the secret again if the scope has
   * changed since. Returns the current scope. `undefined` if the scope cannot change.
   */
  readonly confirm: (() => Promise<Scope>) | undefined
}

/** @see wire contract, section 7; the seed, section 5 */
export function createScopeAuthentication(deps: {
  readonly methods: readonly OwnedPart<ClientAuthentication>[]
  readonly kitOf: (plugin: string) => Kit
  readonly scopes: LiveScopes
  readonly limits: CredentialLimits
  readonly isRefused: RefusalCheck
  readonly runtime: Runtime
  readonly recorder: Recorder
}): ScopeAuthentication {
  const { methods, kitOf, scopes, limits, isRefused, runtime, recorder } = deps
  const isKnown = (name: string): boolean => scopes.current.find(name) !== undefined
  // A scope authenticates by a secret only. A name without a secret is read, too, for the events.
  const present = createPresent(
    methods.filter(({ part }) => part.verify === undefined || part.implicit),
    kitOf,
  )
  const secretCheck = derivedFrom(scopes, ({ all, secretsOf }) => createSecretCheck(all.map(secretsOf), runtime))

  function match(presented: PresentedSecret): MaybePromise<Verdict> {
    if (!isPossible(presented)) return { reason: 'credentials_impossible' }
    const { find, secretsOf } = scopes.current
    const scope = find(presented.clientId)
    const checking = [isRefused(presented.secret), secretCheck()(presented.secret, scope && secretsOf(scope))] as const
    return after(allOf(checking), ([isCompromised, matches]): Verdict => {
      if (isCompromised) return { reason: 'secret_refused' }
      if (scope === undefined) return { reason: 'scope_unknown' }
      if (!matches) return { reason: 'secret_mismatch' }
      return scope.enabled ? { scope } : { reason: 'scope_disabled' }
    })
  }

  function verify({ by: { method }, presented }: Presentation): MaybePromise<Scope> {
    if (method.verify !== undefined) throw invalidClient('secret_missing')
    const credentials = presented as PresentedSecret
    const matched = after(match(credentials), (verdict) => {
      const alternative = verdict.scope === undefined ? method.alternative?.(credentials) : undefined
      return alternative !== undefined && isPossible(alternative) ? match(alternative) : verdict
    })
    return after(matched, ({ scope, reason }) => {
      if (scope === undefined) throw invalidClient(reason)
      return scope
    })
  }

  const createConfirm = (scope: Scope, presentation: Presentation, trace: Trace): AuthenticatedScope['confirm'] =>
    scopes.renew &&
    (async () => {
      await scopes.renew?.(scope)
      if (scopes.current.find(scope.name) === scope) return scope
      if (recorder.observed) trace.presented = presentedId(presentation.presented.clientId, isKnown, runtime)
      return verify(presentation)
    })

  return async (request, form, trace) => {
    let presentation: Presentation | undefined
    let attempt: CredentialAttempt | undefined
    try {
      const { headers } = request
      const { clientAddress, clientCertificate } = trace
      const header = (name: string) => headers.get(name)
      presentation = present(form, { header, clientAddress, clientCertificate, endpointUrls: noUrls })
      attempt = limits.admit(presentation.presented.clientId, trace)
      const verifying = verify(presentation)
      const scope = isThenable(verifying) ? await verifying : verifying
      attempt.confirm(true)
      return { scope, presentation, confirm: createConfirm(scope, presentation, trace) }
    } catch (thrown) {
      // If `present` throws, no secret was compared, so the request was no guess.
      if (presentation === undefined) throw thrown
      if (recorder.observed) trace.presented = presentedId(presentation.presented.clientId, isKnown, runtime)
      throw attempt === undefined ? thrown : await attempt.fail(thrown, isGuess(presentation))
    }
  }
}
