import { request as send } from 'node:http'
import { type ServeOptions, serve } from '@grantry/adapters/node'
import type { ClientCertificate } from '@grantry/core'
import { afterEach, describe, expect, test } from 'vitest'

type Header = NonNullable<ServeOptions['clientCertificate']>

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

const der = 'MAMCAQE+/w=='
const pem = `-----BEGIN CERTIFICATE-----\n${der}\n-----END CERTIFICATE-----\n`
const escaped = encodeURIComponent(pem)
const local = ['127.0.0.1']

/** Returns the certificates that a handler receives for requests with these headers. */
async function seenBy(option: Header | undefined, ...requests: readonly Record<string, string | string[]>[]) {
  const seen: (ClientCertificate | undefined)[] = []
  const fetch = async (
    _request: Request,
    connection?: { readonly clientCertificate?: ClientCertificate | undefined },
  ) => {
    seen.push(connection?.clientCertificate)
    return new Response()
  }
  const { port, close } = await serve(
    { issuer: 'https://id.example.com', fetch },
    option === undefined ? {} : { clientCertificate: option },
  )
  closers.push(() => close(0))
  for (const headers of requests) {
    await new Promise((resolve, reject) => {
      send({ port, host: '127.0.0.1', headers, agent: false }, (response) => response.resume().on('end', resolve))
        .on('error', reject)
        .end()
    })
  }
  return seen
}

const unverified = { der, verified: false }

describe('a certificate in a header', () => {
  test.each<[string, Omit<Header, 'proxies'>, string]>([
    ['pem', { header: 'X-Client-Cert', format: 'pem' }, escaped],
    ['pem without line breaks', { header: 'X-Client-Cert', format: 'pem' }, escaped.replaceAll('%0A', '')],
    ['rfc9440', { header: 'Client-Cert', format: 'rfc9440' }, `:${der}:`],
    ['der, as of HAProxy', { header: 'X-SSL-Client-Cert', format: 'der' }, der],
    ['der, in quotes, as of HAProxy', { header: 'X-SSL-Client-Cert', format: 'der' }, `"${der}"`],
    [
      'der, escaped, as of Traefik before 2.9',
      { header: 'X-Forwarded-Tls-Client-Cert', format: 'der' },
      encodeURIComponent(der),
    ],
    ['der, with the chain, as of Traefik', { header: 'X-Forwarded-Tls-Client-Cert', format: 'der' }, `${der},MAMCAQI=`],
    [
      'xfcc',
      { header: 'X-Forwarded-Client-Cert', format: 'xfcc' },
      `Hash=abc;Cert="${escaped}";Subject="CN=\\"a,b\\";c"`,
    ],
    [
      'xfcc, of the last element',
      { header: 'X-Forwarded-Client-Cert', format: 'xfcc' },
      `Cert="x",By=a;Cert="${escaped}"`,
    ],
    [
      'xfcc, with two names of the proxy',
      { header: 'X-Forwarded-Client-Cert', format: 'xfcc' },
      `By=spiffe://mesh/a;By=https://mesh.example.com;Hash=abc;Cert="${escaped}"`,
    ],
    [
      'xfcc, of the element at a position',
      { header: 'X-Forwarded-Client-Cert', format: 'xfcc', position: 2 },
      `Cert="x",Hash=abc;Cert="${escaped}", By=spiffe://mesh/a;Hash=abc;Cert="y"`,
    ],
  ])('is read in the format %s', async (_, option, value) => {
    const headers = { [option.header]: value }
    expect(await seenBy({ ...option, proxies: local }, headers)).toEqual([unverified])
    expect(await seenBy({ ...option, proxies: local, verified: true }, headers)).toEqual([{ der, verified: true }])
  })

  const secondCertificate = encodeURIComponent(pem.replace(der, 'MAMCAQI='))
  test.each<[string, Omit<Header, 'proxies' | 'header'>, string | string[]]>([
    ['that is repeated', { format: 'pem' }, [escaped, escaped]],
    ['that is repeated', { format: 'rfc9440' }, [`:${der}:`, `:${der}:`]],
    ['that is empty', { format: 'pem' }, ''],
    ['with two certificates', { format: 'pem' }, escaped + secondCertificate],
    ['with text before the certificate', { format: 'pem' }, `x${escaped}`],
    ['with a malformed escape', { format: 'pem' }, `${escaped}%`],
    ['that is not escaped', { format: 'rfc9440' }, escaped],
    ['in another format', { format: 'pem' }, `:${der}:`],
    ['in another format', { format: 'xfcc' }, escaped],
    ['in another format', { format: 'der' }, escaped],
    ['that is repeated', { format: 'der' }, [der, der]],
    ['that is empty', { format: 'der' }, ''],
    ['with an empty element', { format: 'der' }, `,${der}`],
    ['with one quote', { format: 'der' }, `"${der}`],
    ['with a malformed escape', { format: 'der' }, `${der}%`],
    ['with text after the certificate', { format: 'der' }, `${der}x`],
    ['without the key Cert', { format: 'xfcc' }, 'Hash=abc;Subject="CN=a"'],
    ['with the key in lower case', { format: 'xfcc' }, `cert="${escaped}"`],
    ['with a chain only', { format: 'xfcc' }, `Chain="${escaped}"`],
    ['with two certificates in an element', { format: 'xfcc' }, `Cert="${escaped}";Cert="${secondCertificate}"`],
    ['with a quote that is not closed', { format: 'xfcc' }, `Cert="${escaped}",Subject="CN=a`],
    ['with text after a quote', { format: 'xfcc' }, `Subject="x"y;Cert="${escaped}"`],
    ['with fewer elements than the position', { format: 'xfcc', position: 2 }, `Cert="${escaped}"`],
    ['whose last element has no certificate', { format: 'xfcc' }, `Cert="${escaped}",By=a`],
    ['with a name of the certificate', { format: 'xfcc' }, `Cert="${escaped}";URI=spiffe://a/b`],
  ])('is ignored in a header %s', async (_, option, value) => {
    expect(await seenBy({ header: 'x-cert', proxies: local, ...option }, { 'x-cert': value })).toEqual([undefined])
  })

  test('is taken from the configured header only', async () => {
    const option: Header = { header: 'x-cert', format: 'pem', proxies: local }
    expect(await seenBy(option, {}, { 'x-client-cert': escaped })).toEqual([undefined, undefined])
  })
})

describe('the addresses of proxies', () => {
  const headers = { 'x-cert': escaped }
  test.each([
    ['127.0.0.1', true],
    ['127.0.0.0/8', true],
    ['0.0.0.0/0', true],
    ['192.0.2.1', false],
    ['128.0.0.0/8', false],
    ['::1', false],
  ])('%s', async (proxy, trusted) => {
    const seen = await seenBy({ header: 'x-cert', format: 'pem', proxies: ['203.0.113.9', proxy] }, headers)
    expect(seen).toEqual([trusted ? unverified : undefined])
  })

  test('are required for a header', async () => {
    expect(await seenBy(undefined, headers, { 'client-cert': `:${der}:` })).toEqual([undefined, undefined])
  })
})

test.each<[string, Partial<Header>]>([
  ['clientCertificate.proxies must be the addresses', { proxies: [] }],
  ['clientCertificate.proxies must be the addresses', { proxies: undefined as never }],
  ['clientCertificate.proxies: localhost is not an IP address', { proxies: ['localhost'] }],
  ['clientCertificate.proxies: 10.0.0.0/33 is not', { proxies: ['10.0.0.0/33'] }],
  ['clientCertificate.proxies: 10.0.0.0/8/8 is not', { proxies: ['10.0.0.0/8/8'] }],
  ['clientCertificate.proxies: ::1/ is not', { proxies: ['::1/'] }],
  ['clientCertificate.header must be the name', { header: 'a b' }],
  ['clientCertificate.format must be pem or der or xfcc or rfc9440', { format: 'base64' as never }],
  ['clientCertificate.position must be a whole number', { position: 0 }],
])('refuses the option: %s', async (message, change) => {
  const option: Header = { header: 'x-cert', format: 'pem', proxies: local, ...change }
  await expect(seenBy(option)).rejects.toThrow(message)
})
