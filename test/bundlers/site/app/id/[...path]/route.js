import { grantry } from '../../../grantry.js'

export const { GET, HEAD, POST, PUT, DELETE, OPTIONS } = grantry
