import { fetchHandler } from '@grantry/adapters/fetch'
import { contractProvider } from '../provider.ts'

// A Worker may make keys and randomness while it answers only, so the provider is made with the first request.
let handler: Promise<(request: Request) => Promise<Response>> | undefined

const worker = {
  async fetch(request: Request): Promise<Response> {
    handler ??= contractProvider().then((provider) => fetchHandler(provider))
    return (await handler)(request)
  },
}

// The platform demands it.
export default worker
