import type { SendRequest } from './fetched-uri.ts'
import { octetsOf } from './ip-octets.ts'
import { type IncomingMessage, type Lookup, type LookupAddress, type NodeNetwork, nodeNetwork } from './node-network.ts'
import { isPublicAddress } from './public-address.ts'

/** Returns the addresses of a name, in any order. */
export type ResolveName = (name: string) => Promise<readonly string[]>

export interface PinnedOptions {
  readonly resolve?: ResolveName | undefined
  readonly isAllowed?: ((address: string) => boolean) | undefined
  /** The authorities of servers. Default: those of the runtime. */
  readonly ca?: string | undefined
}

const code = 'ADDRESS_REFUSED'

/** Whether a request was not sent because its host has an address that is not public. */
export const isAddressRefused = (error: unknown): boolean => (error as { readonly code?: unknown })?.code === code

const refused = (): Error => Object.assign(new Error('The host has an address that is not public'), { code })

/**
 * Asks the name servers. The default lookup of sockets waits in one of four threads, which the hashing of passwords and
 * the file system need, too: a name server that does not respond would block them. The hosts file is not read.
 */
function resolverOf({ dns }: NodeNetwork): ResolveName {
  return async (name) => {
    const resolver = new dns.promises.Resolver({ timeout: 1500, tries: 2 })
    const outcomes = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    return outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? outcome.value : []))
  }
}

/**
 * Resolves a name for a socket, which connects to what it returns and asks no name server itself. A single address that
 * is not allowed refuses the name: a public host has none.
 */
function checkedLookup(resolve: ResolveName, isAllowed: (address: string) => boolean): Lookup {
  async function addressesOf(name: string): Promise<readonly [LookupAddress, ...LookupAddress[]]> {
    const [first, ...others] = (await resolve(name)).map((address): LookupAddress => {
      return { address, family: octetsOf(address)?.length === 4 ? 4 : 6 }
    })
    if (first === undefined) throw new Error('The host has no address')
    if (![first, ...others].every(({ address }) => isAllowed(address))) throw refused()
    return [first, ...others]
  }
  return (name, { all }, callback) => {
    addressesOf(name).then(
      (addresses) => (all ? callback(null, addresses) : callback(null, addresses[0].address, addresses[0].family)),
      callback,
    )
  }
}

const withoutBody: readonly unknown[] = [204, 205, 304]

/** Reads the message as far as the body of the response is read. */
function bodyOf(message: IncomingMessage): ReadableStream<Uint8Array> {
  const chunks = message[Symbol.asyncIterator]()
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await chunks.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: () => message.destroy(),
    },
    { highWaterMark: 0 },
  )
}

function responseOf(message: IncomingMessage): Response {
  const { statusCode: status = 0 } = message
  const headers = Object.entries(message.headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((line): [string, string] => [name, line]),
  )
  if (!withoutBody.includes(status)) return new Response(bodyOf(message), { status, headers })
  message.destroy()
  return new Response(null, { status, headers })
}

/**
 * Sends requests only to public addresses, over a connection of their own. The address is checked when the socket
 * connects. There is no second look-up, so a name cannot resolve to another address after the check.
 */
export function createPinnedSend(network: NodeNetwork, options: PinnedOptions = {}): SendRequest {
  const { resolve = resolverOf(network), isAllowed = isPublicAddress, ca } = options
  const lookup = checkedLookup(resolve, isAllowed)
  return (url, { method, headers, body, signal }) =>
    new Promise((resolved, reject) => {
      const host = new URL(url).hostname.replace(/^\[|\]$/gu, '')
      // Sockets do not look up a host that is an address, so it is checked here.
      if (octetsOf(host) !== undefined && !isAllowed(host)) return reject(refused())
      const defaults = { 'user-agent': 'grantry', 'accept-encoding': 'identity' }
      const fields = { ...defaults, ...Object.fromEntries(new Headers(headers ?? undefined)) }
      const request = network.https.request(
        url,
        { method, headers: fields, agent: false, lookup, signal, ...(ca !== undefined && { ca }) },
        (message) => {
          // The reader of the body gets the error. Without a listener, it would end the process.
          message.on('error', () => {})
          try {
            resolved(responseOf(message))
          } catch (error) {
            // The constructor of `Response` refuses statuses such as 999.
            message.destroy()
            reject(error)
          }
        },
      )
      request.on('error', reject)
      request.end(typeof body === 'string' ? body : undefined)
    })
}

/** The requests of the runtime, which on Workers reach only the public internet, unless their operator changes that. */
export const platformSend: SendRequest = (url, init) => fetch(url, init)

/** Returns the safest way to send requests to hosts of strangers on this platform. */
export function createPublicSend(): SendRequest {
  const network = nodeNetwork()
  return network === undefined ? platformSend : createPinnedSend(network)
}
