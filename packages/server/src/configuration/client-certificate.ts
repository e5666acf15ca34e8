import { isIP } from 'node:net'
import { configurationObject } from '@grantry/core'
import * as v from 'valibot'
import { numeric } from '../numeric.ts'

/** Whether a text is an IP address or a network in CIDR notation. */
function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/')
  const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
  const isLength = bits === undefined || (/^\d{1,3}$/u.test(bits) && Number(bits) <= most)
  return most > 0 && isLength && more.length === 0
}

const network = v.pipe(
  v.string('must be an IP address'),
  v.check(isNetwork, 'must be an IP address, or a network such as 10.0.0.0/8'),
)

/** How a proxy passes the certificates of clients. */
export const clientCertificateSchema = configurationObject({
  /** The header in which the proxy passes the certificate. */
  header: v.pipe(v.string('must be the name of a header'), v.regex(/^[\w-]+$/u, 'must be the name of a header')),
  /** How the header contains it. */
  format: v.picklist(['pem', 'der', 'xfcc', 'rfc9440'], 'must be pem, der, xfcc or rfc9440'),
  /** The addresses of the proxies that may send the header. */
  proxies: v.pipe(v.array(network, 'must be an array of IP addresses'), v.minLength(1, 'must not be empty')),
  /** Whether the proxy passes only certificates whose chain it has verified. */
  verified: v.optional(v.boolean('must be true or false'), false),
  /** For `xfcc`: the element of the list, counted from the right. */
  position: v.optional(
    v.pipe(numeric('must be a number'), v.integer('must be a whole number'), v.minValue(1, 'must be 1 or more')),
    1,
  ),
})

export type ClientCertificateHeader = v.InferOutput<typeof clientCertificateSchema>
