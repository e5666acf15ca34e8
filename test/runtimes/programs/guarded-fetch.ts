// Sends guarded requests on the runtime that runs this program, and prints what becomes of them. The parameters are the
// port of a TLS server on 127.0.0.1, and a file with its authority. 127.0.0.1 stands for a public address here, and
// 127.0.0.2 for a private one.
import { readFileSync } from 'node:fs'
import process from 'node:process'
import { createGuardedFetch, type OutgoingRequest } from '../../../plugins/shared/guarded-fetch.ts'
import { nodeNetwork } from '../../../plugins/shared/node-network.ts'
import { createPinnedSend } from '../../../plugins/shared/pinned-send.ts'

const [, , port = '', file = ''] = process.argv
const ca = readFileSync(file, 'utf8')
const network = nodeNetwork()
if (network === undefined) throw new Error('This runtime has no sockets')

const publicAddress = '127.0.0.1'
const privateAddress = '127.0.0.2'

/** Resolves names to these addresses, one list for each look-up. */
async function outcomeWith(
  lookUps: readonly (readonly string[])[],
  path: string,
  request: Partial<OutgoingRequest> = {},
  host = 'keys.example.com',
) {
  let count = 0
  const resolve = async () => {
    count += 1
    return lookUps[count - 1] ?? []
  }
  const send = createPinnedSend(network as NonNullable<typeof network>, {
    resolve,
    isAllowed: (address) => address === publicAddress,
    ca,
  })
  // Literal addresses are refused by their form, unless private addresses are allowed.
  const fetchGuarded = createGuardedFetch({ allowPrivateAddresses: true, send })
  const fetched = await fetchGuarded(`https://${host}:${port}${path}`, {
    timeout: 10,
    maxSize: 1000,
    now: 0,
    ...request,
  })
  const { problem } = fetched
  return problem === undefined ? [fetched.status, fetched.body, count] : [problem, count]
}

const once = [[publicAddress]]
const outcomes = {
  'a public address': await outcomeWith(once, '/keys'),
  'a name that changes its mind': await outcomeWith([[publicAddress], [privateAddress]], '/keys'),
  'a name that has changed its mind': await outcomeWith([[privateAddress], [publicAddress]], '/keys'),
  'a private address among public ones': await outcomeWith([[publicAddress, privateAddress]], '/keys'),
  'no address': await outcomeWith([[]], '/keys'),
  'a literal address': await outcomeWith([], '/keys', {}, privateAddress),
  'a redirect': await outcomeWith(once, '/redirect'),
  'no content': await outcomeWith(once, '/no-content'),
  'an impossible status': await outcomeWith(once, '/999'),
  'a post': await outcomeWith(once, '/echo', { method: 'POST', body: 'a=b' }),
  'a body that does not matter': await outcomeWith(once, '/endless', { maxSize: 0 }),
  'an endless body': await outcomeWith(once, '/endless'),
  'a host that does not respond': await outcomeWith(once, '/hang', { timeout: 0.3 }),
  'a body that does not end': await outcomeWith(once, '/half', { timeout: 0.3 }),
  'a connection that breaks': await outcomeWith(once, '/broken'),
  'another media type': await outcomeWith(once, '/keys', { accepts: ['application/jwk-set+json'] }),
  'an accepted media type': await outcomeWith(once, '/keys', { accepts: ['application/json'] }),
  'a certificate of another name': await outcomeWith(once, '/keys', {}, 'other.example.com'),
}
process.stdout.write(`${JSON.stringify(outcomes)}\n`)
// A runtime could wait for the connections that were given up.
process.exit(0)
