import { grantry } from '../../../grantry.js'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = grantry
