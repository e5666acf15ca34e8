import { fetchHandler } from '@grantry/adapters/fetch'
import { contractProvider } from '../provider.ts'

// A Worker can create keys and random values only inside a request, so the first request creates the provider.
let handler: Promise<(request: Request) => Promise<Response>> | undefined

const worker = {
  async fetch(request: Request): Promise<Response> {
    handler ??= contractProvider().then((provider) => fetchHandler(provider))
    return (await handler)(request)
  },
}

// workerd requires a default export.
export default worker
