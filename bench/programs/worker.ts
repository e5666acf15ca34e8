// Never run: only its bundle size is measured.
import { fetchHandler } from '@grantry/adapters/fetch'
import { createProvider } from '@grantry/core'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { memoryDriver } from '@grantry/storage-drivers/memory'

interface Environment {
  readonly OPTIONS: string
}

async function open({ OPTIONS }: Environment): Promise<(request: Request) => Promise<Response>> {
  const plugins = [clientCredentials(), refreshToken()]
  return fetchHandler(await createProvider({ ...JSON.parse(OPTIONS), storage: memoryDriver(), plugins }))
}

let handler: ReturnType<typeof open> | undefined

export default {
  async fetch(request: Request, environment: Environment): Promise<Response> {
    handler ??= open(environment)
    return (await handler)(request)
  },
}
