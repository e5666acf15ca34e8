import { fetchHandler } from '@grantry/adapters/fetch'
import { createDemoProvider } from '../../../../provider.ts'

const grantry = fetchHandler(await createDemoProvider())

export const GET = grantry
export const POST = grantry
// By default, Next.js handles these two methods itself, without the CORS headers for the client's origins.
export const OPTIONS = grantry
export const HEAD = grantry
