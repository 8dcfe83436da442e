/** The promises this bench judges. Ratios where they can be, so that the machine's speed cancels out. */
export const TARGETS = {
  jsonOfPassThrough: 0.65,
  jsonOfPortkey: 15,
  jsonOfCaddy: 1,
  streamOfPassThrough: 0.8,
  addedChunkP99Ms: 1,
  addedP50Ms: 0.2,
  addedP99Ms: 2,
  kibPerStream: 60,
  driftKibPerStream: 6,
  stallMs: 500,
  authenticationUs: 60,
  authenticationStatements: 0,
  exchangesPerCore: 300,
  endpointOfProxy: 1.15,
  fallbackAddedMs: 2,
  transcriptionSizes: 2,
};
