from .dcrc import DCRC as DCRC
from .gamma_path import limit_path as limit_path
from .minimal_modification import MinimalModification as MinimalModification
from .mpck_means import MPCKMeans as MPCKMeans
from .rdp_means import DPMeans as DPMeans
from .rdp_means import RDPMeans as RDPMeans
from .spectral import SpectralRDPMeans as SpectralRDPMeans
from .tvclust import TVClust as TVClust
