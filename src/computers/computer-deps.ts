import type { ApiDeps } from '../api/route-family.js';
import type { Signer } from './address-signer.js';
import type { Relay } from './agent-relay.js';
import type { Computers } from './computer.js';
import type { Provisioner } from './provisioner.js';
import type { Uploads } from './upload.js';

/** The dependencies of the routes of computers. */
export interface ComputerDeps extends ApiDeps {
  readonly computers: Computers;
  readonly relay: Relay;
  readonly signer: Signer;
  readonly provisioner: Provisioner;
  readonly uploads: Uploads;
}
