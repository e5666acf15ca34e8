import { client } from '../../../auth.js'

export const { GET, POST } = client
