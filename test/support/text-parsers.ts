// The parsers of text that a caller without credentials can send, each with its worst cases.
import { createPages } from '@grantry/pages'
import { languages } from '@grantry/pages/languages'
import { originForm } from '../../packages/adapters/src/http-bridge/check-head.ts'
import { clientAddress } from '../../packages/adapters/src/http-bridge/client-address.ts'
import { certificateFormats, certificateIn } from '../../packages/adapters/src/http-bridge/client-certificate.ts'
import { addressGroupOf } from '../../packages/core/src/abuse/address-group.ts'
import { formDecoded, parseBasic } from '../../packages/core/src/credentials/methods.ts'
import { readAccessToken } from '../../packages/core/src/credentials/presented-token.ts'
import { isLocation, isRegistered, redirectUriProblem } from '../../packages/core/src/directory/redirect-uri.ts'
import { createRefuse } from '../../packages/core/src/errors/oauth-error.ts'
import { describeCause } from '../../packages/core/src/events/cause.ts'
import { reportToConsole } from '../../packages/core/src/events/recorder.ts'
import { parseTraceparent } from '../../packages/core/src/events/trace-context.ts'
import { foldedName } from '../../packages/core/src/folded-text.ts'
import { parseScope, wordsOfScope } from '../../packages/core/src/grants/scope-policy.ts'
import { parseParameters } from '../../packages/core/src/http/parameters.ts'
import { parseJsonObject } from '../../packages/core/src/http/read-parameters.ts'
import { isSetCookie } from '../../packages/core/src/parts/reply.ts'
import { prefers } from '../../packages/core/src/parts/response-format-kind.ts'
import { decodeBase64, decodeBase64url } from '../../packages/core/src/runtime.ts'
import { decodeJwt } from '../../packages/core/src/tokens/jwt.ts'
import { readCredentials } from '../../packages/resource-server/src/credentials.ts'
import { readProof as readApiProof } from '../../packages/resource-server/src/dpop/proof.ts'
import { targetOf as apiTargetOf, publicTarget } from '../../packages/resource-server/src/dpop/target.ts'
import { isJwt } from '../../packages/resource-server/src/jwt.ts'
import { errorMessage } from '../../packages/server/src/error-message.ts'
import { parseHost } from '../../packages/server/src/local-address.ts'
import { assertState, parseClaims } from '../../plugins/authorization-endpoint/parameters.ts'
import { typedUserCode } from '../../plugins/device-authorization/user-code.ts'
import { isSameTarget } from '../../plugins/dpop/proof.ts'
import { isName } from '../../plugins/mtls/alternative-names.ts'
import { parseName } from '../../plugins/mtls/distinguished-name.ts'
import { asciiUriOf, browserCookie } from '../../plugins/shared/browser-cookie.ts'
import { fetchedUriProblem } from '../../plugins/shared/fetched-uri.ts'
import { audiencesIn, resourcesIn } from '../../plugins/shared/resources.ts'
import { unverifiedJwt } from '../../plugins/shared/verify-jwt.ts'
import { longest } from './cpu-cost.ts'

/** What makes loops and regular expressions start again from each character. */
const repeated = [
  ...['-', ',', ';', ' ', '\n', '\t', '=', '.', ':', '/', '%', '+', '"', '\\', '&', '0', 'a', '[', '{', '\u0301'],
  ...['a-', 'a,', 'a;', 'a ', 'a=', 'a.', 'a:', 'a&', '&a=', '; a=', ', a', ' \n', '\n ', '\\"', '%41', 'a=";', ':0'],
  ...[';q=', '1.', '{"a":', '/.', '/../', '%2', '\u0301\u0323'],
]

/** Inputs of 64 KB: each text repeated, alone and with an end that does not fit. */
export const worstCases: readonly string[] = repeated.flatMap((text) => {
  const filled = text.repeat(longest / text.length)
  return [filled, `a${filled.slice(3)}\u00e4\n`]
})

const { localeOf } = createPages({ languages })
const refuse = createRefuse('parsers')
const cookieOf = browserCookie('a', /^\w+$/u)

const kept = console.error
function report(text: string): void {
  console.error = () => undefined
  try {
    const error = Object.assign(new Error(text), { stack: `Error: ${text}\n    at x (y:1)` })
    reportToConsole(
      { type: 'unhandled_failure', reason: 'unhandled_failure', cause: describeCause(error) } as never,
      'x',
    )
  } finally {
    console.error = kept
  }
}

export const textParsers: Readonly<Record<string, (text: string) => unknown>> = {
  'pages: Accept-Language': (text) => localeOf(undefined, text),
  'pages: ui_locales': (text) => localeOf(text, null),
  'core: parameters': parseParameters,
  'core: JSON': parseJsonObject,
  'core: Accept': (text) => prefers('application/token-introspection+jwt', text),
  'core: traceparent': parseTraceparent,
  'core: Authorization of a token': (text) => readAccessToken(text, undefined, ['Bearer', 'DPoP']),
  'core: Authorization of a token, with its scheme': (text) => readAccessToken(`Bearer ${text}`, undefined, ['Bearer']),
  'core: Basic': (text) => parseBasic(`Basic ${text}`),
  'core: form-encoded Basic': (text) => formDecoded({ clientId: text, secret: text }),
  'core: base64': decodeBase64,
  'core: base64url': decodeBase64url,
  'core: JWT': decodeJwt,
  'core: scope': parseScope,
  'core: words of a scope': wordsOfScope,
  'core: Set-Cookie': (text) => isSetCookie(`a=b; Path=/${text}`),
  'core: address': addressGroupOf,
  'core: user name': foldedName,
  'core: redirect URI': (text) => redirectUriProblem(`https://${text}`),
  'core: registered redirect URI': (text) => isRegistered(`http://127.0.0.1:1/${text}`, ['http://127.0.0.1/']),
  'core: location': (text) => isLocation(`https://${text}`),
  'core: report of a failure': report,
  ...Object.fromEntries(
    certificateFormats.flatMap((format) => [
      [`adapters: certificate as ${format}`, (text: string) => certificateIn(text, format, 1)],
      [`adapters: certificate in ${format}`, (text: string) => certificateIn(`Cert="${text}`, format, 1)],
    ]),
  ),
  'adapters: X-Forwarded-For': (text) => clientAddress('127.0.0.1', text, 1),
  'adapters: target': (text) => originForm(`http://${text}`),
  'resource-server: Authorization': (text) => readCredentials({ get: () => text } as unknown as Headers),
  'resource-server: JWT': isJwt,
  'resource-server: proof': readApiProof,
  'resource-server: htu': (text) => apiTargetOf(`https://a/${text}`),
  'resource-server: URL': (text) => publicTarget('https://api.example.com', `https://a/${text}`),
  'server: Host': parseHost,
  'server: message of an error': (text) => errorMessage(new Error(text)),
  'plugins: Cookie': (text) =>
    cookieOf({ issuer: 'https://a', sha256: () => '' }).read({ header: () => text } as never),
  'plugins: claims': (text) => parseClaims(text, refuse),
  'plugins: state': (text) => assertState(text, refuse),
  'plugins: redirect': (text) => asciiUriOf(`https://a/${text}`),
  'plugins: user code': typedUserCode,
  'plugins: resource': (text) => resourcesIn(text, refuse),
  'plugins: resource, with its scheme': (text) => resourcesIn(`urn:${text}`, refuse),
  'plugins: audience': (text) => audiencesIn(text, refuse),
  'plugins: name of a certificate': parseName,
  'plugins: IP address of a certificate': (text) => isName('ip', text),
  'plugins: email address of a certificate': (text) => isName('email', text),
  'plugins: htu': (text) => isSameTarget(`https://a/${text}`, 'https://a/'),
  'plugins: jwks_uri': (text) => fetchedUriProblem(`https://${text}`, {} as never),
  'plugins: assertion': (text) => unverifiedJwt(text, {} as never),
}
