import { fetchHandler } from '@grantry/adapters/fetch'
import { createDemoProvider } from '../../../../../provider.ts'

const grantry = fetchHandler(await createDemoProvider())
const answer = ({ request }: { readonly request: Request }): Promise<Response> => grantry(request)

export const GET = answer
export const POST = answer
export const OPTIONS = answer
export const HEAD = answer
