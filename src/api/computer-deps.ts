import type { Computers } from '../computer/computer.js';
import type { Provisioner } from '../computer/provision.js';
import type { Relay } from '../computer/relay.js';
import type { Signer } from '../computer/signature.js';
import type { Uploads } from '../computer/upload.js';
import type { ApiDeps } from './family.js';

/** What the routes of computers work with. */
export interface ComputerDeps extends ApiDeps {
  readonly computers: Computers;
  readonly relay: Relay;
  readonly signer: Signer;
  readonly provisioner: Provisioner;
  readonly uploads: Uploads;
}
