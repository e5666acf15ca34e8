import type { RequiredBinding } from './binding.ts'
import type { FindCertificate } from './certificate.ts'
import type { CommonOptions } from './context.ts'
import type { DpopProofOptions } from './dpop/dpop.ts'
import { assertMembers } from './option-checks.ts'
import type { Reason } from './refusal.ts'
import type { ResourceMetadataOptions } from './resource-metadata.ts'
import type { Formats } from './validate-token.ts'

/** A refusal, for logs. */
export interface Refusal {
  readonly reason: Reason
  readonly status: number
  /** The error of a fetch or of a function of the host that caused the refusal. */
  readonly cause?: unknown
}

/** The options that both forms of {@link createResourceServer} have. */
export interface ResourceServerSettings extends CommonOptions, Formats {
  /** Further members of the metadata document. Requires `resource`. */
  readonly metadata?: ResourceMetadataOptions | undefined
  /** How DPoP proofs are checked. Default: tokens that need one are refused. */
  readonly dpop?: DpopProofOptions | undefined
  /** Returns the certificate of the client. Default: tokens that need one are refused. */
  readonly clientCertificate?: FindCertificate | undefined
  /** Requires tokens that are bound to a key (`dpop`), to a certificate, or to any of them. Default: none. */
  readonly requiredBinding?: RequiredBinding | undefined
  /** The claim that contains the scopes. Default: `scope`. */
  readonly scopeClaim?: string | undefined
  /** The `realm` of challenges. Default: none. */
  readonly realm?: string | undefined
  /** Receives every refusal. Its errors are ignored. */
  readonly onRefusal?: ((refusal: Refusal) => void | Promise<void>) | undefined
}

/** The options of {@link createResourceServer} for an API with audiences of its own. */
export interface ResourceServerOptions extends ResourceServerSettings {
  readonly audience: string | readonly string[]
}

/** The options of {@link createResourceServer} for an API whose audience is its identifier. */
export interface ProtectedResourceOptions extends ResourceServerSettings {
  readonly resource: string
}

const optionNames = [
  'issuer',
  'audience',
  'resource',
  'metadata',
  'audienceClaim',
  'requiredClaims',
  'jwt',
  'introspection',
  'dpop',
  'clientCertificate',
  'requiredBinding',
  'scopeClaim',
  'realm',
  'clockTolerance',
  'timeout',
  'fetch',
  'onRefusal',
  'now',
]

const bindings: readonly unknown[] = [undefined, 'dpop', 'certificate', 'any']

/** @throws TypeError with one sentence for a mistake in the options, except in those of the parts */
export function assertOptions(options: ResourceServerSettings): void {
  assertMembers(options, optionNames, 'The options')
  const { requiredBinding, dpop, clientCertificate } = options
  if (options.metadata !== undefined && options.resource === undefined)
    throw new TypeError('metadata requires resource')
  if (!bindings.includes(requiredBinding)) throw new TypeError('requiredBinding must be dpop, certificate or any')
  const possible = { dpop, certificate: clientCertificate, any: dpop ?? clientCertificate }
  if (requiredBinding !== undefined && possible[requiredBinding] === undefined) {
    throw new TypeError(`requiredBinding: ${requiredBinding} requires the option dpop or clientCertificate`)
  }
  if (options.realm === undefined || /^[ !#-[\]-~]+$/u.test(options.realm)) return
  throw new TypeError('realm must be printable ASCII without quotation marks and backslashes')
}
