import {
  type Client,
  type ClientCertificate,
  defineClientAuthentication,
  defineFields,
  definePlugin,
  defineTokenBinding,
  type Kit,
  type MaybePromise,
  type Plugin,
  parseConfiguration,
} from '@grantry/core'
import { type ClientKeyMembers, clientKeyMembers, hasKeys } from '../shared/client-keys.ts'
import { createPublishedKeys } from '../shared/jwks-uri.ts'
import { type Certificate, readCertificate } from './certificate.ts'
import { hasSubject, isCertificateOf, isSubject, subjectNames, subjectProblem } from './match.ts'
import {
  type CertificateMembers,
  certificateMembers,
  type MtlsOptions,
  type Settings,
  settingsSchema,
} from './mtls-settings.ts'
import { isShort } from './public-key.ts'

declare module '@grantry/core' {
  interface ClientMembers extends CertificateMembers, ClientKeyMembers {}
}

export { type MtlsOptions, settingsSchema as mtlsSchema } from './mtls-settings.ts'

/** A certificate that can be used now, or the reason why none can. */
type Usable =
  | { readonly certificate: Certificate; readonly reason?: undefined }
  | { readonly certificate?: undefined; readonly reason: string }

/** What a request presents is read once, although both the authentication and the binding need it. */
const known = new WeakMap<ClientCertificate, Certificate>()

function certificateIn(presented: ClientCertificate): Certificate | undefined {
  const certificate = known.get(presented) ?? readCertificate(presented.der)
  if (certificate !== undefined) known.set(presented, certificate)
  return certificate
}

function usableCertificate(presented: ClientCertificate | undefined, kit: Kit): Usable {
  if (presented === undefined) return { reason: 'certificate_missing' }
  const certificate = certificateIn(presented)
  if (certificate === undefined) return { reason: 'certificate_malformed' }
  // The TLS server does not check the period of a certificate whose chain it does not verify.
  const now = kit.now()
  if (now < certificate.notBefore) return { reason: 'certificate_not_yet_valid' }
  if (now > certificate.notAfter) return { reason: 'certificate_expired' }
  return isShort(certificate.key) ? { reason: 'certificate_key_short' } : { certificate }
}

/** A certificate that a request has proved. */
interface Proved {
  readonly read: Certificate
  /** Whether its chain is verified. */
  readonly verified: boolean
}

function method(
  name: Settings['methods'][number],
  accepts: (client: Client) => boolean,
  problemWith: (certificate: Proved, client: Client, kit: Kit) => MaybePromise<string | undefined>,
) {
  return defineClientAuthentication({
    method: name,
    consumes: [],
    // The client could have sent the certificate for its tokens only.
    implicit: true,
    unguessable: true,
    present({ client_id: clientId }, { clientCertificate }) {
      return clientId === undefined || clientCertificate === undefined ? undefined : { clientId, clientCertificate }
    },
    accepts,
    async verify({ clientCertificate }, client, kit) {
      const { certificate, reason } = usableCertificate(clientCertificate, kit)
      if (certificate === undefined) return { reason }
      if (client === undefined || !accepts(client)) return { reason: 'method_not_accepted' }
      const verified = clientCertificate.verified === true
      const problem = await problemWith({ read: certificate, verified }, client, kit)
      return problem === undefined || { reason: problem }
    },
  })
}

function reasonOfSubject({ read, verified }: Proved, client: Client): string | undefined {
  if (!verified) return 'certificate_not_verified'
  return isSubject(client, read) ? undefined : 'subject_mismatch'
}

/** RFC 8705 section 2.1. */
const verifiedMethod = () =>
  method('tls_client_auth', (client) => !client.public && hasSubject(client), reasonOfSubject)

const selfSigned = 'self_signed_tls_client_auth'

/** RFC 8705 section 2.2. */
function selfSignedMethod(settings: Settings) {
  const published = createPublishedKeys(settings.jwksUri)
  return method(
    selfSigned,
    // The keys alone could be those for assertions.
    (client) => !client.public && client.tokenEndpointAuthMethod === selfSigned && hasKeys(client),
    async (certificate, { jwks, jwksUri }, kit) => {
      const problemWith = ({ keys }: { readonly keys: readonly object[] }) => ({
        reason: keys.some((jwk) => isCertificateOf({ ...jwk }, certificate.read)) ? undefined : 'key_unknown',
      })
      if (jwks !== undefined) return problemWith(jwks).reason
      const { reason } = await published.verify(jwksUri ?? '', kit, async (keySet) => problemWith(keySet))
      return reason
    },
  )
}

/** RFC 8705 section 3. */
const certificateBinding = defineTokenBinding({
  member: 'x5t#S256',
  prove({ client, clientCertificate, accessToken, asksForTokens }, kit) {
    // A client that has not asked for bound tokens could use them without the certificate. Codes are bound to none.
    const isBound = asksForTokens && client.tlsClientCertificateBoundAccessTokens === true
    if (accessToken === undefined && !isBound) return undefined
    const { certificate, reason } = usableCertificate(clientCertificate, kit)
    if (certificate !== undefined) return { key: kit.sha256(certificate.bytes) }
    const [code, what] =
      accessToken === undefined
        ? (['invalid_request', 'A valid client certificate is required'] as const)
        : (['invalid_token', 'The access token is not valid'] as const)
    throw kit.refuse(code, what, reason)
  },
})

/**
 * Mutual TLS: client authentication by certificates (`tls_client_auth`, `self_signed_tls_client_auth`), and tokens that
 * are bound to the certificate of the client. The adapter or a proxy handles TLS and passes the certificate.
 *
 * @throws TypeError with one sentence for a mistake in the options.
 * @see RFC 8705
 */
export function mtls(options: MtlsOptions = {}): Plugin {
  const settings = parseConfiguration(settingsSchema, options, 'mtls()')
  const { methods, endpointAliases, jwksUri } = settings
  const create = { tls_client_auth: verifiedMethod, [selfSigned]: selfSignedMethod }
  return definePlugin('mtls', [
    defineFields({
      client: {
        ...certificateMembers,
        ...clientKeyMembers(jwksUri.allowPrivateAddresses),
      },
      clientMetadata: {
        tls_client_certificate_bound_access_tokens: 'tlsClientCertificateBoundAccessTokens',
        ...(methods.includes('tls_client_auth') && subjectNames),
      },
      checkClient: subjectProblem,
      metadata: {
        tls_client_certificate_bound_access_tokens: true,
        ...(endpointAliases !== undefined && { mtls_endpoint_aliases: endpointAliases }),
      },
    }),
    ...[...new Set(methods)].map((name) => create[name](settings)),
    certificateBinding,
  ])
}
