import { fetchHandler } from '@grantry/adapters/fetch'
import { createDemoProvider } from '../../../../provider.ts'

const grantry = fetchHandler(await createDemoProvider())

export const GET = grantry
export const POST = grantry
// Next.js would answer these two by itself: without the CORS headers of a client's origins.
export const OPTIONS = grantry
export const HEAD = grantry
